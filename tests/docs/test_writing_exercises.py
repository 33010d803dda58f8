"""``docs/writing-exercises.md``, followed to the letter: a new course, and a change in a copy of this one."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from autograder.model import verdict
from autograder.model.verdict import NotebookVerdict
from autograder.references import loader

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "writing-exercises.md"
#: A fenced block, with the line before it that names its file, or its cell of a notebook, where there is one.
BLOCK = re.compile(
    r"(?:^`(?P<file>[^`\n]+)`(?:, cell `(?P<cell>\w+)`)?:\n\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
CHANGE = "## Changing an exercise"
NOTEBOOK = "attention/1_attention.ipynb"

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("writing-exercises")]


@dataclass(frozen=True)
class Block:
    file: str | None
    cell: str | None
    language: str
    text: str


def blocks(text: str) -> Iterator[Block]:
    for found in BLOCK.finditer(text):
        yield Block(found["file"], found["cell"], found["language"], found["text"])


def shell(folder: Path, script: str) -> tuple[str, Path]:
    """What the script prints when it is typed in the folder, and the folder that it ends in. It must succeed."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"{script}\npwd"],
        cwd=folder, capture_output=True, text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "NBGRADER_"))},
    )  # fmt: skip
    assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    printed, _, place = done.stdout.rstrip("\n").rpartition("\n")
    return printed, Path(place)


def fill_in(folder: Path, block: Block) -> None:
    """Write a file, or the text of a notebook's cell, as somebody does who follows the guide."""
    assert block.file, f"a block without the name of its file: {block.text[:60]!r}"
    path = folder / block.file
    assert path.is_file(), f"{block.file}: 'autograder new' wrote no such file"
    if block.cell is None:
        path.write_text(block.text, encoding="utf-8")
        return
    notebook = nbformat.read(path, as_version=4)
    (cell,) = (cell for cell in notebook.cells if cell.id == block.cell)
    assert cell.cell_type == ("markdown" if block.language == "markdown" else "code")
    cell.source = block.text.rstrip("\n")
    nbformat.write(notebook, path)


def apply(folder: Path, diff: str) -> None:
    """Make the changes of a diff without line numbers; what it shows of a file must stand there once."""
    for part in diff.split("--- ")[1:]:
        name, *lines = part.splitlines()
        old = "\n".join(line[1:] for line in lines if line[0] in " -")
        new = "\n".join(line[1:] for line in lines if line[0] in " +")
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} does not hold this once:\n{old}"
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")


@dataclass(frozen=True)
class Followed:
    """The new course after the last step, and what each line of the command blocks printed."""

    root: Path
    printed: dict[str, str]

    def graded(self, student: str) -> NotebookVerdict:
        return verdict.read(self.root / "autograded" / student / "attention" / "verdicts.json").notebooks[0]


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    folder, printed = tmp_path_factory.mktemp("guide"), {}
    for block in blocks(GUIDE.read_text(encoding="utf-8").partition(CHANGE)[0]):
        if block.language == "sh":
            for line in block.text.splitlines():
                printed[line], folder = shell(folder, line)
        else:
            fill_in(folder, block)
    return Followed(folder, printed)


@pytest.mark.parametrize("command", ["autograder check attention --exercise entropy", "autograder release attention"])
def test_the_sample_answers_are_counted_and_none_is_a_problem(followed: Followed, command: str) -> None:
    said = followed.printed[command]
    assert re.search(r"entropy\D+3\D+5\D+0", said), said
    assert "✗" not in said


def test_the_released_notebook_holds_no_solution_and_no_hidden_test(followed: Followed) -> None:
    text = (followed.root / "release" / NOTEBOOK).read_text(encoding="utf-8")
    for secret in ("logarithms = ", "SOLUTION", "HIDDEN TESTS", "case.call", "autograder"):
        assert secret not in text
        assert secret in (followed.root / "source" / NOTEBOOK).read_text(encoding="utf-8")
    assert "raise NotImplementedError()" in text
    assert [path.name for path in (followed.root / "release" / "attention").iterdir()] == ["1_attention.ipynb"]


def test_the_right_answer_has_full_points_and_the_untouched_one_none(followed: Followed) -> None:
    right, untouched = followed.graded("right"), followed.graded("untouched")
    assert (right.points, right.cells[0].max_points, right.cells[0].status) == (1, 1, "passed")
    assert (untouched.points, untouched.cells[0].status) == (0, "failed")


def test_the_mistake_is_named_in_the_verdict_and_on_the_feedback_page(followed: Followed) -> None:
    (cell,) = followed.graded("bits").cells
    assert (cell.points, {check.mistake for check in cell.checks if check.mistake}) == (0, {"bits"})
    page = (followed.root / "feedback" / "bits" / "attention" / "1_attention.html").read_text(encoding="utf-8")
    assert "These are bits" in page
    assert "case.compare" not in page


def test_its_modules_are_written_in_the_house_style(followed: Followed) -> None:
    files = [str(path) for path in (followed.root / "exercises" / "attention").rglob("*.py")]
    assert len(files) == 1
    settings = f"--config {ROOT / 'pyproject.toml'}"
    shell(followed.root, f"ruff check {settings} {' '.join(files)} && ruff format --check {settings} {' '.join(files)}")


def test_somebody_new_changes_an_exercise_and_looks_at_two_files(tmp_path: Path) -> None:
    section = GUIDE.read_text(encoding="utf-8").partition(CHANGE)[2]
    root = tmp_path / "course"
    root.mkdir()
    for name in ("course.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, root)
    ignored = shutil.ignore_patterns("__pycache__", "checkpoints")
    for name in ("source/distilbert", "exercises/distilbert", "course"):
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    shutil.copy(ROOT / "exercises" / "_attention.py", root / "exercises")
    (root / ".gitignore").write_text("__pycache__/\n/.autograder/\n")
    shell(root, "git init -q && git add -A && git -c user.name=n -c user.email=e@example.org commit -qm start")
    (diff,), (commands,) = ([one.text for one in blocks(section) if one.language == kind] for kind in ("diff", "sh"))
    shown = set(re.findall(r"(?:source|exercises)/\S+\.(?:ipynb|py)", section))
    apply(root, diff)
    right, wrong = loader.sample_answers(ROOT / "exercises", "distilbert/head_average")
    said, _ = shell(root, commands)
    assert re.search(rf"head_average\D+{len(right)}\D+{len(wrong) + 1}\D+0", said), said
    changed = {line[3:] for line in shell(root, "git status --porcelain")[0].splitlines()}
    assert len(shown) == 2
    assert {path for path in changed if path.endswith(".py")} == {path for path in shown if path.endswith(".py")}
