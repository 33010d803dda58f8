"""Every command that README and guides tell people to type is typed here, in a course with three students."""

import os
import re
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.test_links import PAGES
from tests.grading import ROOT, copy_exercises, leave_out_shown
from tools.demo import build_sample_class

pytestmark = pytest.mark.slow

SHEET = "distilbert"
STUDENTS = ("ada", "grace", "noether")
#: The exercise of which all sample answers are tried under the new seed; of the others, one right and one wrong.
THOROUGH = "attention_scores"
#: What is appended to the others; tests/exercises tries all that they have.
FEW = """
from dataclasses import replace as _few
_patched = [one.id for one in EXERCISE.mistakes if one.patches and not one.by_rule][1:]
EXERCISE = _few(
    EXERCISE,
    mistakes=[one for one in EXERCISE.mistakes if one.id not in _patched],
    right=dict(list(EXERCISE.right.items())[:1]),
    wrong=(),
)
"""
#: Blocks that other tests run: page -> where.
ELSEWHERE = {
    "privacy.md": "tests/privacy",
    "collecting.md": "tests/collect",
    "exports.md": "tests/exports",
    "from-nbgrader.md": "tests/plain/test_from_nbgrader.py",
    "from-otter.md": "tests/convert",
    "lms.md": "tests/lms",
    "marking.md": "tests/browser/test_marking.py",
    "jupyterhub.md": "tests/hub",
    "student.md": "its lines fetch packages; tests/docs/test_links.py reads them",
    "writing-exercises.md": "tests/docs/test_writing_exercises.py",
}
#: Blocks that no test can run, word for word.
NOT_HERE = {
    "make demo": "continuous integration runs it; it sets up an environment of its own",
    "make test": "it is this",
    "make setup": "these tests run in what it made",
    "jupyter lab": "it serves until somebody stops it; tests/browser starts it, and opens the formgrader",
    ". .venv/bin/activate": "these tests run in this environment",
    "python3 -m venv .venv && . .venv/bin/activate && pip install ./autograder": "test_kit installs the wheel",
    **dict.fromkeys(
        (
            "autograder explain grace ps1 squares",
            'autograder accept grace ps1 squares --reason "a list of her own class, and right"',
        ),
        "of another course, in which an answer passes one judge alone",
    ),
    "make release": "'autograder release' in the environment of make; the instructor's guide runs it for one sheet",
}


@dataclass(frozen=True)
class Line:
    page: str
    text: str


def lines() -> list[Line]:
    """Every line of every ``sh`` block that is to be run here, without its comment, in the order of the pages."""
    found = []
    for page in PAGES:
        if page.name not in ELSEWHERE:
            for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
                found += [Line(page.name, line.partition("  #")[0].strip()) for line in block.splitlines()]
    return [line for line in found if line.text]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course with the assignment released, and Canvas's zip of three students' submissions beside it."""
    root = tmp_path_factory.mktemp("term") / "course"
    root.mkdir()
    settings = ("nbgrader_config.py", "course.toml", "pyproject.toml", "constraints.txt")
    for name in (*settings, "LICENSE", "README.md"):
        shutil.copy(ROOT / name, root)
    copy_exercises(root, SHEET)
    for path in (root / "exercises" / SHEET).glob("*.py"):
        if "\nEXERCISE = " in (text := path.read_text(encoding="utf-8")) and path.stem != THOROUGH:
            path.write_text(text + FEW, encoding="utf-8")
    of_the_sheet = [f"{tree}/{SHEET}" for tree in ("source", "release")]
    own = root / "course.toml"  # step 2: a repository of its own
    own.write_text(own.read_text(encoding="utf-8").replace("example/transformer", "university/transformer", 1))
    # a part of the grader's package lies in the course's folder, and must not hide the installed one
    for name in (*of_the_sheet, "course", "docs", "autograder/release/bundle_files"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    leave_out_shown(root, SHEET)  # 'make release' runs whole notebooks, and so do 'make demo' and the browser tests
    build_sample_class(root)
    with zipfile.ZipFile(root / "submissions.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number, student in enumerate(STUDENTS, start=101):
            for place, path in enumerate(sorted((root / "submitted" / student / SHEET).glob("*.ipynb"))):
                archive.write(path, f"{student}_{number}_{number}{place}_{path.name}")
    listed = [f"{number},{student}" for number, student in enumerate(STUDENTS, start=101)]
    (root / "students.csv").write_text("\n".join(["id,student", *listed]) + "\n")
    shutil.rmtree(root / "submitted")
    return root


def type_in(root: Path, command: str) -> str:
    """What the command printed, as in an activated environment. Fails where it does not end well."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    shell = ["bash", "-c", command]
    done = subprocess.run(shell, cwd=root, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def test_the_term_runs_as_the_guides_tell_it_and_prints_what_they_show(course: Path) -> None:
    printed = {}
    # the instructor's term first: the README has some of its lines again, which are typed once
    for line in sorted(lines(), key=lambda line: line.page != "instructor.md"):
        if line.text not in NOT_HERE and line.text not in printed:
            printed[line.text] = type_in(course, line.text)
    shown = "\n".join(printed.values())
    guide = (ROOT / "docs" / "instructor.md").read_text(encoding="utf-8")
    promised = [line for block in re.findall(r"```text\n(.*?)```", guide, re.DOTALL) for line in block.splitlines()]
    words = {word for line in promised if "grace" in line or "noether" in line for word in re.findall(r"[\w/]+", line)}
    assert words and words <= set(re.findall(r"[\w/]+", shown))
    assert (course / "grades.csv").is_file()
    assert (course / "reports" / SHEET / "index.html").is_file()
    assert len(list((course / "feedback").glob(f"*/{SHEET}/*.html"))) == 4 * len(STUDENTS)
    assert (course.parent / "students" / "README.md").is_file()


def test_what_is_not_run_here_is_still_in_the_guides() -> None:
    texts = {line.text for line in lines()}
    assert set(NOT_HERE) - texts == set()
    names = {page.name for page in PAGES if "```sh" in page.read_text(encoding="utf-8")}
    assert set(ELSEWHERE) <= names
