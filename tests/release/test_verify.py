"""A release takes its place when every check holds. Until then the old one, and the gradebook, stay as they were."""

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.model.course import Course
from autograder.pipeline.execute import Kernels
from autograder.release.findings import Finding
from autograder.release.generate import draft, generate
from autograder.release.verify import Draft, Verification, drafted
from tests.grading import ROOT
from tests.release.conftest import SHEET, Change, change, replace, sheet_course

pytestmark = pytest.mark.slow

IMPORTED = replace("imports", "import numpy", "import math\nimport numpy")
LITTER = (".nbgrader.log", ".gitignore")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose only notebook was released."""
    root = sheet_course(tmp_path_factory.mktemp("released") / "course")
    for path in root.glob(f"*/{SHEET}/[23]_*.ipynb"):
        path.unlink()
    shutil.rmtree(root / "submitted")
    generate(Course(root), SHEET)
    return root


@pytest.fixture
def course(once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which no second draft is made: nothing here compares the two."""

    def first_alone(course: Course, assignment: str, step: str) -> object:
        return draft(course, assignment, step) if step.endswith("first") else None

    monkeypatch.setattr("autograder.release.verify.draft", first_alone)
    return shutil.copytree(once, tmp_path / "course")


def contents(course: Path) -> dict[str, bytes]:
    """Every file that matters: no source, no log, no file for git."""
    files = (path for path in course.rglob("*") if path.is_file() and "source" not in path.parts)
    return {str(path.relative_to(course)): path.read_bytes() for path in files if path.name not in LITTER}


def proven(monkeypatch: pytest.MonkeyPatch, *problems: str) -> None:
    """Every proof holds but for these problems; no kernel is started for it."""

    def verify(draft: Draft, kernels: Kernels) -> Iterator[Verification]:
        yield Verification("toy", tuple(Finding("toy", SHEET, one) for one in problems))

    monkeypatch.setattr(Draft, "verify", verify)
    monkeypatch.setattr("autograder.commands.release._sample_answers", lambda *given: [])
    monkeypatch.setattr(Kernels, "open", lambda isolation, imports: nullcontext())


def release(course: Path) -> int:
    return main(["--course", str(course), "release", SHEET])


def test_a_check_that_fails_leaves_release_and_gradebook_as_they_were(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change(course, "source", IMPORTED)
    before = contents(course)
    proven(monkeypatch, "it leaks")
    monkeypatch.setenv("NBGRADER_DB_URL", f"sqlite:///{course}/another.db")  # would be named by the configuration
    assert release(course) == 1
    assert "it leaks" in (said := capsys.readouterr().out) and "not released" in said
    assert contents(course) == before


def test_when_every_check_holds_the_new_one_is_in_place_and_the_gradebook_knows_it(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(course, "source", IMPORTED)
    change(course, "source", marked("softmax", points=3))
    proven(monkeypatch)
    assert release(course) == 0
    assert "import math" in (course / "release" / SHEET / "1_attention.ipynb").read_text()
    with Gradebook(Course(course).db_url) as gradebook:
        assert gradebook.find_assignment(SHEET).max_score == 13
    assert list((course / ".autograder").glob("release-*")) == []


@pytest.mark.parametrize(
    ("grade_id", "old", "new", "said"),
    [
        ("softmax_answer", "### END SOLUTION", "", "1_attention.ipynb: RuntimeError: no end solution statement found"),
        ("softmax_answer", "END SOLUTION", "END SOLUTON", "'softmax_answer', looks like a marker"),
        ("softmax", "BEGIN HIDDEN", "BEGIN HIDEN", "'### BEGIN HIDEN TESTS' meant as a marker"),
        ("softmax", "case.compare(", "case.compare((", "cell 'softmax': its hidden tests are no Python"),
        ("self_attention", "", "", "has 2 cells 'softmax'"),
    ],
)  # fmt: skip
def test_what_cannot_be_released_is_one_line_with_its_reason(
    course: Path, capsys: pytest.CaptureFixture[str], grade_id: str, old: str, new: str, said: str
) -> None:
    doubled = not new and not old
    change(course, "source", marked(grade_id, grade_id="softmax") if doubled else replace(grade_id, old, new))
    before = contents(course)
    assert release(course) == 2
    printed = capsys.readouterr().err
    assert said in printed and printed.count("\n") == 1, printed
    assert contents(course) == before


def marked(name: str, **marks: object) -> Change:
    """Other marks of nbgrader on one cell."""
    return lambda by_id, notebook: by_id[name].metadata.nbgrader.update(marks)


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_an_exercise_added_after_grading_is_one_line_that_names_it(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Gradebook(Course(course).db_url) as gradebook:
        gradebook.add_student("ada")
        gradebook.add_submission(SHEET, "ada")
    change(course, "source", marked("softmax_answer", grade_id="hardmax_answer"))
    before = contents(course)
    assert release(course) == 2
    said = capsys.readouterr().err
    assert "1_attention.ipynb, cell 'hardmax_answer' is new, but submissions were graded" in said
    assert said.count("\n") == 1 and "docs/instructor.md" in said
    assert contents(course) == before


def test_an_empty_folder_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / name, tmp_path)
    assert main(["--course", str(tmp_path), "release"]) == 2
    said = capsys.readouterr().err
    assert "holds no assignment to release" in said and said.count("\n") == 1


def test_a_release_that_cannot_be_replaced_stays(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(course)
    proven(monkeypatch)

    def full(source: Path, target: Path, real=__import__("os").replace) -> None:
        if Path(target) == course / "release" / SHEET and "first" in str(source) and "old" not in str(source):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr("autograder.files.atomic.os.replace", full)
    assert release(course) == 2
    assert "No space left" in capsys.readouterr().err
    after = contents(course)
    assert {name: after[name] for name in before if name != "gradebook.db"} == {
        name: data for name, data in before.items() if name != "gradebook.db"
    }


def test_a_release_that_depends_on_the_order_of_a_set_is_not_the_same_twice(once: Path, tmp_path: Path) -> None:
    root = shutil.copytree(once, tmp_path / "course")
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write("\nc.ClearSolutions.code_stub = {'python': f'# {hash(str())} {hash(chr(120))}'}\n")
    with drafted(Course(root), SHEET) as made:
        assert [one.text for one in made._differences()] == ["1_attention.ipynb differs"]
