"""A calibrated course, graded by the command, by nbgrader with our plug-ins, and by a bundle's own code."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder import cli
from autograder.model.verdict import read
from tests.pipeline.conftest import nbgrader
from tests.plain.conftest import scores
from tests.plain.notebooks import answer, graded, hand_in, notebook, read_by_hand, write
from tests.plain.test_accept import OWN_LIST, SQUARES

pytestmark = pytest.mark.slow
#: A thread that goes on printing while the tests run, as a progress bar does.
PRINTS_ON = """
import threading, time
def beat():
    for _ in range(200_000):
        print("step")
        time.sleep(0.0005)
threading.Thread(target=beat, daemon=True).start()
def squares(n): return [0, 1, 4]"""
ANSWERS = {
    "ada": "def squares(n): return [0, 1, 4]", "bob": "squares = 1", "grace": OWN_LIST, "katherine": PRINTS_ON
}  # fmt: skip
POINTS = {
    "ada": {"squares": 2, "source": 0}, "bob": {"squares": 0, "source": 0}, "grace": {"squares": None, "source": 1},
    "katherine": {"squares": 2, "source": 0},
}  # fmt: skip


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ways") / "course"
    tests = (
        graded("squares", "### BEGIN HIDDEN TESTS\nassert squares(3) == [0, 1, 4]\n### END HIDDEN TESTS", 2),
        graded("source", "import inspect\nassert ' i ' in inspect.getsource(squares)"),
    )
    write(notebook(answer("a", SQUARES), *tests, read_by_hand("why", "Because.")), root / "source" / "ps1" / "p.ipynb")
    (root / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'ways'\n")
    assert nbgrader(root, "generate_assignment", "ps1").returncode == 0
    for student, text in ANSWERS.items():
        hand_in(root, student, "ps1", {"a": text})
    return root


def found(root: Path) -> dict[str, dict[str, float | None]]:
    given = scores(root, "ps1").items()
    return {student: {name[2:]: one for name, one in cells.items() if name != "p/why"} for student, cells in given}


def test_the_command_and_nbgrader_with_our_plug_ins_give_the_same_points(course, tmp_path, capsys):
    plugged = shutil.copytree(course, tmp_path / "plugged")
    assert cli.main(["--course-dir", str(plugged), "adopt", "--yes"]) == 0
    said = capsys.readouterr().out
    assert "ps1: 3 cells: 1 judged as the solution does, 1 in the student's kernel alone, 1 by a person\n" in said
    assert "p.ipynb, cell 'source' (1 point): the solution does not pass outside of the student's kernel" in said
    calibrated = (plugged / ".autograder/calibration/ps1.json").read_bytes()
    assert nbgrader(plugged, "autograde", "ps1").returncode == 0
    assert cli.main(["--course-dir", str(course), "grade", "ps1"]) == 0
    assert "For you to do: grace: p/squares, 2 points wait for your word" in capsys.readouterr().out.replace("\n", " ")
    assert found(plugged) == found(course) == POINTS
    assert (plugged / ".autograder/calibration/ps1.json").read_bytes() == calibrated
    (verdict,) = (plugged / "autograded" / "grace").glob("*/verdicts.json")
    squares = next(one for one in read(verdict).notebooks[0].cells if one.cell == "squares")
    assert (squares.offered, squares.judged) == (2, "outside") and "class Own" in squares.refused


def test_a_bundle_takes_the_calibration_along_and_no_solution(course, tmp_path):
    out, unpacked = tmp_path / "ps1.zip", tmp_path / "unpacked"
    assert cli.main(["--course-dir", str(course), "bundle", "gradescope", "ps1", "--out", str(out)]) == 0
    with zipfile.ZipFile(out) as archive:
        archive.extractall(unpacked)
    texts = [path.read_text(errors="replace") for path in unpacked.rglob("*") if path.suffix in (".json", ".ipynb")]
    assert not [text for text in texts if "i * i" in text]
    stored = json.loads((unpacked / "calibration/ps1.json").read_text())["notebooks"]["p"]
    assert {name: stored[name]["judged"] for name in ("squares", "source")} == {
        "squares": "outside",
        "source": "kernel",
    }
    for student, meant in POINTS.items():
        submitted = course / "submitted" / student / "ps1"
        words = ["-m", "autograder.cli", "ci", "ps1", str(submitted), "--out", str(tmp_path / student)]
        done = subprocess.run([sys.executable, *words], cwd=unpacked, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        results = json.loads((tmp_path / student / "results.json").read_text())
        assert results["score"] == sum(points or 0 for points in meant.values()), student
