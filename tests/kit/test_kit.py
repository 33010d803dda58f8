"""The grader alone, installed from its wheel outside the checkout, makes a course on another subject and grades it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.grading import ROOT
from tests.kit.conftest import Kit, build_wheel

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kit")]


def verdicts(kit: Kit, student: str) -> dict[str, dict[str, Any]]:
    """Cell -> its verdict."""
    text = (kit.course / "autograded" / student / "signals" / "verdicts.json").read_text(encoding="utf-8")
    return {cell["cell"]: cell for cell in json.loads(text)["notebooks"][0]["cells"]}


def points(kit: Kit, student: str) -> dict[str, float]:
    return {name: cell["points"] for name, cell in verdicts(kit, student).items()}


@pytest.mark.parametrize("package", ["torch", "transformers", "course"])
def test_neither_torch_nor_this_course_can_be_imported_there(kit: Kit, package: str) -> None:
    done = kit.run("python", "-c", f"import {package}")
    assert f"No module named '{package}'" in done.stderr


def test_nothing_of_the_checkout_is_read(kit: Kit) -> None:
    assert not kit.opened.exists(), kit.opened.read_text()


def test_the_watch_on_the_checkout_would_see_it(installed: Kit) -> None:
    installed.run("python", "-c", f"open({str(ROOT / 'README.md')!r})", folder=installed.home)
    assert installed.opened.read_text() == f"{ROOT / 'README.md'}\n"
    installed.opened.unlink()


def test_init_says_which_files_to_look_at_and_what_to_do_next(kit: Kit) -> None:
    said = kit.said("init")
    assert "exercises/signals/moving_average.py" in said
    assert "autograder check" in said


def test_new_says_which_files_are_stubs(kit: Kit) -> None:
    said = kit.said("new")
    for name in ("source/signals/1_smoothing.ipynb", "signals/median.py"):
        assert name in said


def test_a_stub_stops_the_release_in_one_line_that_names_it(kit: Kit) -> None:
    said = kit.said("release a stub")
    assert "1_smoothing.ipynb, cell 'median_text' is a stub" in said
    assert len(said.strip().splitlines()) == 1


def test_the_right_answer_has_full_points(kit: Kit) -> None:
    assert points(kit, "right") == {"moving_average": 2, "median": 1}


def test_the_wrong_answer_has_none_and_its_mistakes_are_named(kit: Kit) -> None:
    assert points(kit, "wrong") == {"moving_average": 0, "median": 0}
    checks = {name: cell["checks"] for name, cell in verdicts(kit, "wrong").items()}
    named = {name: {check["mistake"] for check in found if check.get("mistake")} for name, found in checks.items()}
    assert named == {"moving_average": {"sum"}, "median": {"mean"}}


def test_the_untouched_notebook_has_no_points(kit: Kit) -> None:
    assert points(kit, "untouched") == {"moving_average": 0, "median": 0}


ALONE = """
import sys
sys.modules["autograder"] = None
import numpy as np
from course_checks import signals as check
def moving_average(values, window):
    return np.convolve(values, np.ones(window) / window, "valid")
def median(values):
    return np.mean(values)
check.moving_average(moving_average)
try:
    check.median(median)
except AssertionError as refused:
    print("refused:", refused)
"""


def test_students_check_in_the_published_folder_without_the_grader_and_read_the_sentence_of_feedback(kit: Kit) -> None:
    done = kit.run("python", "-c", ALONE, folder=kit.home / "published")
    assert done.stdout.startswith("✓ moving_average: one mean for each window"), done.stderr
    refused = done.stdout.partition("refused: ")[2]
    (said,) = [check["message"] for check in verdicts(kit, "wrong")["median"]["checks"] if check.get("mistake")]
    assert refused.startswith(f"median: {said}\n") and said == "This is the mean."


def test_feedback_names_the_mistake_and_says_nothing_of_hidden_tests(kit: Kit) -> None:
    page = (kit.course / "feedback" / "wrong" / "signals" / "1_smoothing.html").read_text(encoding="utf-8")
    assert "These are sums of the values in each window." in page
    assert "case.compare" not in page


def test_the_report_shows_the_class(kit: Kit) -> None:
    pages = list((kit.course / "reports" / "signals").glob("*.html"))
    assert any("Moving average" in page.read_text(encoding="utf-8") for page in pages)


def test_the_released_notebook_holds_neither_solution_nor_hidden_test(kit: Kit) -> None:
    notebook = nbformat.read(kit.course / "release" / "signals" / "1_smoothing.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells)
    for secret in ("sums_so_far", "SOLUTION", "HIDDEN", "case.compare", "np.median(values)"):
        assert secret not in text


def test_the_graders_wheel_holds_nothing_of_this_course(grader_wheel: Path) -> None:
    own = {path.name for path in (ROOT / "source").iterdir() if path.is_dir()}
    names = zipfile.ZipFile(grader_wheel).namelist()
    assert [name for name in names if own & set(Path(name).parts) or Path(name).stem in own] == []


#: What its wheel is built from. In a checkout the rules of grading are the grader's; a wheel has a copy of them.
COURSE = ("pyproject.toml", "README.md", "LICENSE", "course", "autograder/exercise")


def test_the_courses_wheel_holds_its_checks_and_no_exercise(tmp_path: Path) -> None:
    names = zipfile.ZipFile(build_wheel(tmp_path, *COURSE)).namelist()
    assert {"course/check/distilbert/__init__.py", "course/check/_rules/interface.py"} <= set(names)
    outside = {name.partition("/")[0] for name in names if not name.startswith("course/")}
    assert [name for name in outside if not name.endswith(".dist-info")] == []
