"""``docs/writing-exercises.md``, followed to the letter in a copy of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from autograder.model import verdict
from autograder.model.verdict import NotebookVerdict

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "writing-exercises.md"
#: A fenced block, with the line before it that names its file where there is one.
BLOCK = re.compile(r"(?:^`(?P<file>[^`\n]+)`:\n\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NOTEBOOK = "entropy/1_entropy.ipynb"


@dataclass(frozen=True)
class Block:
    file: str | None
    language: str
    text: str


def blocks() -> Iterator[Block]:
    for found in BLOCK.finditer(GUIDE.read_text(encoding="utf-8")):
        yield Block(found["file"], found["language"], found["text"])


def copy_of_the_project(folder: Path) -> None:
    """What the guide builds on: both packages, the configuration, what tests share. No sheet, no stored reference."""
    sheets = shutil.ignore_patterns("__pycache__", "*.egg-info", "checkpoints", "solutions")
    for package in ("course", "autograder"):
        shutil.copytree(ROOT / package, folder / package, ignore=sheets)
    (folder / "tests" / "mistakes").mkdir(parents=True)
    shared = ("tests/__init__.py", "tests/conftest.py", "tests/grading.py", "tests/mistakes/__init__.py")
    for name in ("pyproject.toml", "nbgrader_config.py", "course.toml", *shared):
        shutil.copy(ROOT / name, folder / name)


def shell(folder: Path, script: str) -> str:
    """What the script prints when it is typed in the copy; it must succeed, line by line."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, capture_output=True, text=True,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "NBGRADER_"))},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(folder),
        },
    )  # fmt: skip
    assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@dataclass(frozen=True)
class Followed:
    """The copy after the last step, and what each command block printed."""

    root: Path
    printed: dict[str, str]

    def graded(self, student: str) -> NotebookVerdict:
        return verdict.read(self.root / "trial" / "autograded" / student / "entropy" / "verdicts.json").notebooks[0]


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    root = tmp_path_factory.mktemp("guide") / "course"
    copy_of_the_project(root)
    printed = {}
    for block in blocks():
        if block.language == "sh":
            printed[block.text] = shell(root, block.text)
        else:
            assert block.file, f"a block without the name of its file: {block.text[:60]!r}"
            (root / block.file).write_text(block.text, encoding="utf-8")
    return Followed(root, printed)


@pytest.mark.slow
@pytest.mark.xdist_group("writing-exercises")
class TestTheGuide:
    def test_its_commands_use_the_packages_of_the_copy(self, followed: Followed) -> None:
        says = "import autograder, course; print(autograder.__file__, course.__file__)"
        found = shell(followed.root, f"python -c '{says}'")
        assert [Path(path).parents[1] for path in found.split()] == [followed.root, followed.root]
        assert not (ROOT / "exercises" / "entropy").exists()

    def test_every_proof_of_the_release_holds(self, followed: Followed) -> None:
        said = followed.printed["autograder release entropy\n"]
        assert (said.count("✓"), said.count("✗")) == (5, 0), said

    def test_the_released_notebook_holds_no_solution_and_no_hidden_test(self, followed: Followed) -> None:
        text = (followed.root / "release" / NOTEBOOK).read_text(encoding="utf-8")
        for secret in ("logarithms = ", "SOLUTION", "HIDDEN TESTS", "case.compare", "autograder"):
            assert secret not in text
            assert secret in (followed.root / "source" / NOTEBOOK).read_text(encoding="utf-8")
        assert "raise NotImplementedError()" in text
        assert [path.name for path in (followed.root / "release" / "entropy").iterdir()] == ["1_entropy.ipynb"]

    def test_the_setup_cell_is_that_of_every_notebook(self, followed: Followed) -> None:
        cells = nbformat.read(followed.root / "source" / NOTEBOOK, as_version=4).cells
        (setup,) = (cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "setup")
        assert setup.source.strip() == (ROOT / "source" / "setup_cell.py").read_text(encoding="utf-8").strip()

    def test_the_right_answer_has_full_points_and_the_untouched_one_none(self, followed: Followed) -> None:
        right, untouched = followed.graded("right"), followed.graded("untouched")
        assert (right.points, right.cells[0].max_points, right.cells[0].status) == (2, 2, "passed")
        assert (untouched.points, untouched.cells[0].status) == (0, "failed")

    def test_the_mistake_is_named_in_the_verdict_and_on_the_feedback_page(self, followed: Followed) -> None:
        (cell,) = followed.graded("bits").cells
        assert (cell.points, {check.mistake for check in cell.checks if check.mistake}) == (0, {"E-bits"})
        pages = followed.root / "trial" / "feedback" / "bits" / "entropy"
        page = (pages / "1_entropy.html").read_text(encoding="utf-8")
        assert "These are bits" in page
        assert "case.compare" not in page

    def test_its_code_is_written_in_the_house_style(self, followed: Followed) -> None:
        files = [block.file for block in blocks() if block.file and (followed.root / block.file).exists()]
        assert len(files) == 3
        shell(followed.root, f"ruff check {' '.join(files)}")
