"""The grader alone, installed from its wheel outside the checkout, makes a course on another subject and grades it."""

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass, field
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder.isolation import IsolationUnavailable, available
from tests.grading import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kit")]

# what an author writes into the stubs of ``autograder new signals/median``
EXERCISE = '''"""The median. Expected answers: by the standard library."""

import statistics

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant


def cases(generator: np.random.Generator) -> list[Case]:
    return [_case(generator.normal(size=size)) for size in (5, 8, 13)]


def _case(values: np.ndarray) -> Case:
    return Case(inputs={"values": values}, expected={"median": np.array(statistics.median(values.tolist()))})


HEAD = "def median(values):"
MISTAKES = [
    Mistake("mean", "This is the mean.", "The median is the value in the middle.", ("np.median", "np.mean")),
]
RIGHT = {"a percentile": variant(HEAD, "return np.percentile(values, 50)")}
EXERCISE = Exercise(cases, mistakes=MISTAKES, right=RIGHT, given=("values",), shows=("the middle one",))
'''
TITLE = "# 1 · Smoothing a signal\n\n1 notebook · 3 points · about 15 minutes"
TEXT = "## Exercise · Median\n\n| points | time |\n|---|---|\n| 1 | 5 minutes |\n\nThe value in the middle."
ANSWER = '''def median(values):
    """The value in the middle of (n,) values; of an even number, the mean of the two in the middle."""
    ### BEGIN SOLUTION
    return np.median(values)
    ### END SOLUTION'''


def fill_in(course: Path) -> None:
    """Every stub of ``signals/median`` with what an author would have written."""
    (course / "exercises" / "signals" / "median.py").write_text(EXERCISE, encoding="utf-8")
    path = course / "source" / "signals" / "1_smoothing.ipynb"
    notebook = nbformat.read(path, as_version=4)
    texts = {"title": TITLE, "median_text": TEXT, "median_answer": ANSWER}
    for cell in notebook.cells:
        cell.source = texts.get(cell.id, cell.source)
    nbformat.write(notebook, path)


def hand_in(course: Path, student: str, answers: dict[str, str]) -> None:
    """The released notebook, as a student hands it in: ``answers`` (cell id -> body of the function) filled in."""
    notebook = nbformat.read(course / "release" / "signals" / "1_smoothing.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.id in answers:
            cell.source = cell.source.replace("raise NotImplementedError()", answers[cell.id])
    path = course / "submitted" / student / "signals" / "1_smoothing.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


# what pip would install beside a wheel, taken from this environment: pip would need a minute for the same files


def asked_for(wheel: Path) -> list[str]:
    """The names of all distributions that the wheel needs, directly or through others.

    Fails where one is not installed here, or in a version that does not satisfy who asks for it.
    """
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        wanted = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist") or []
    todo, done = [(line, "") for line in wanted], set()
    while todo:
        line, extra = todo.pop()
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        found = distribution(requirement.name)
        assert requirement.specifier.contains(found.version, prereleases=True), f"{line}, but {found.version} is here"
        for one in ("", *requirement.extras):
            if (key := (canonicalize_name(requirement.name), one)) not in done:
                done.add(key)
                todo += [(asked, one) for asked in found.requires or ()]
    return sorted({name for name, _ in done})


def put_in(environment: Path, name: str) -> None:
    """The files of an installed distribution, in another environment: as links, for nothing writes to them."""
    (packages,) = (environment / "lib").glob("python*/site-packages")
    found = distribution(name)
    assert found.files, f"nothing says which files belong to {name}"
    for file in found.files:
        source, target = Path(str(found.locate_file(file))), Path(os.path.normpath(packages / file))
        if source.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            _put(source, target, environment)


def _put(source: Path, target: Path, environment: Path) -> None:
    if target.parent == environment / "bin":  # it names the interpreter that it is for
        lines = source.read_bytes().split(b"\n", 1)
        target.write_bytes(b"\n".join([f"#!{environment}/bin/python".encode(), *lines[1:]]))
        target.chmod(0o755)
        return
    try:
        os.link(source, target)
    except OSError:  # on another disk
        shutil.copy2(source, target)


# the environment and the course

SUBMISSIONS = {
    "right": {
        "moving_average_answer": "return np.convolve(values, np.ones(window), 'valid') / window",
        "median_answer": "return np.median(values)",
    },
    "wrong": {
        "moving_average_answer": "return np.convolve(values, np.ones(window), 'valid')",
        "median_answer": "return np.mean(values)",
    },
    "untouched": {},
}
#: Writes down what is opened in the checkout. Installed in the environment, so that every process there does.
WATCH = """
import os, sys
def watch(event, given):
    if event == "open" and isinstance(given[0], str) and given[0].startswith({root!r} + os.sep):
        with open({log!r}, "a") as log:
            log.write(given[0] + "\\n")
sys.addaudithook(watch)
"""


@dataclass
class Kit:
    """``steps``: what each command said, by its name here."""

    home: Path
    steps: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)

    @property
    def course(self) -> Path:
        return self.home / "course"

    @property
    def opened(self) -> Path:
        return self.home / "opened"

    def run(self, *command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """A program of the environment, with nothing of this process's own environment."""
        binaries = self.home / "venv" / "bin"
        environment = {"HOME": str(self.home), "PATH": f"{binaries}{os.pathsep}{os.defpath}", "LANG": "C.UTF-8"}
        program = [str(binaries / command[0]), *command[1:]]
        return subprocess.run(
            program, cwd=folder or self.course, env=environment, capture_output=True, text=True, timeout=300
        )

    def step(self, name: str, *words: str, folder: Path | None = None, code: int = 0) -> None:
        """One ``autograder`` command, with the exit code that it must have."""
        self.steps[name] = self.run("autograder", *words, folder=folder)
        assert self.steps[name].returncode == code, self.said(name)

    def said(self, name: str) -> str:
        return self.steps[name].stdout + self.steps[name].stderr


def build_wheel(folder: Path) -> Path:
    """The grader's wheel, built in ``folder`` from a copy of it. What the two wheels hold: test_wheels."""
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    project = shutil.copytree(ROOT / "autograder", folder / "autograder", ignore=unwanted)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(project)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    """An environment with the grader and what its wheel asks for, and nothing more."""
    grader_wheel = build_wheel(tmp_path_factory.mktemp("grader-wheel"))
    kit = Kit(tmp_path_factory.mktemp("kit"))
    venv.create(kit.home / "venv", symlinks=True)
    python = kit.home / "venv" / "bin" / "python"
    for name in asked_for(grader_wheel):
        put_in(kit.home / "venv", name)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run([*pip, "--disable-pip-version-check", str(grader_wheel)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    (packages,) = (kit.home / "venv" / "lib").glob("python*/site-packages")
    (packages / "watch_checkout.py").write_text(WATCH.format(root=str(ROOT), log=str(kit.opened)))
    (packages / "watch_checkout.pth").write_text("import watch_checkout\n")
    return kit


@pytest.fixture(scope="module")
def kit(installed: Kit) -> Kit:
    """A course made, extended, released and graded with the commands of that environment."""
    try:
        available()
        unconfined = []
    except IsolationUnavailable:
        unconfined = ["--no-isolation"]
    made = installed
    made.step("init", "init", "course", folder=made.home)
    made.step("new", "new", "signals/median")
    made.step("release a stub", "release", "signals", code=2)
    fill_in(made.course)
    made.step("references", "references", "signals")
    made.step("release", "release", "signals")
    made.step("publish", "publish", str(made.home / "published"), "signals", code=1)  # no repository
    for student, answers in SUBMISSIONS.items():
        hand_in(made.course, student, answers)
    made.step("grade", "grade", "signals", "--workers", "2", *unconfined)
    made.step("feedback", "feedback", "signals")
    made.step("report", "report", "signals")
    return made


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


@pytest.mark.parametrize(
    ("step", "names"),
    [
        ("init", ["exercises/signals/moving_average.py", "autograder check"]),
        ("new", ["source/signals/1_smoothing.ipynb", "signals/median.py"]),
    ],
)
def test_what_to_look_at_and_to_do_next_is_said(kit: Kit, step: str, names: list[str]) -> None:
    assert [name for name in names if name not in kit.said(step)] == []


def test_a_stub_stops_the_release_in_one_line_that_names_it(kit: Kit) -> None:
    said = kit.said("release a stub")
    assert "1_smoothing.ipynb, cell 'median_text' is a stub" in said
    assert len(said.strip().splitlines()) == 1


def test_the_right_answer_has_full_points_and_of_the_wrong_one_the_mistakes_are_named(kit: Kit) -> None:
    assert points(kit, "right") == {"moving_average": 2, "median": 1}
    assert points(kit, "wrong") == points(kit, "untouched") == {"moving_average": 0, "median": 0}
    checks = {name: cell["checks"] for name, cell in verdicts(kit, "wrong").items()}
    named = {name: {check["mistake"] for check in found if check.get("mistake")} for name, found in checks.items()}
    assert named == {"moving_average": {"sum"}, "median": {"mean"}}


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
