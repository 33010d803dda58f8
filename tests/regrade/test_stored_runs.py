"""What a run produced is kept and judged again; where it is missing, old or damaged, the notebook is run again."""

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from autograder import cli
from autograder.classroom import run as classroom
from autograder.classroom.run import GradingOptions, grade_class
from autograder.classroom.workers import Job, JobResult, do, judge
from autograder.errors import GradingError
from autograder.gradebook.gather import gather
from autograder.model import cells
from autograder.model.course import Course
from autograder.pipeline import running, stored_runs
from autograder.pipeline.stored_runs import MAX_BYTES, path_of
from autograder.references import loader
from tests.exercises.tiny import tiny_course
from tests.once import made_once
from tests.regrade.changing_course import CHANGES, FIRST, SECOND, SHEET, fresh, make, set_answer, without_times
from tests.tree import modules

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("stored runs")]


def make_graded(root: Path) -> None:
    make(root)
    assert not any(row.failure for row in grade_class(Course(root), GradingOptions(SHEET)))


@pytest.fixture
def course(tmp_path, monkeypatch) -> Course:
    """Graded, with confined kernels; made once in a run, and only copied."""
    graded = made_once("graded with stored runs", make_graded)
    root = Path(shutil.copytree(graded, tmp_path / graded.name))
    return Course(root)


@pytest.fixture
def done(course, monkeypatch) -> list[JobResult]:
    """What became of each job, as the runs of :func:`grade` come by; they are made here, one after the other."""
    results: list[JobResult] = []

    def here(work, jobs):
        for job in jobs:
            results.append(work(replace(job, isolation="auto")))
            yield results[-1]

    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, start: here(do, todo))
    monkeypatch.setattr(classroom, "local_results", lambda jobs, workers, work: here(work, jobs))
    return results


def ran(course: Course, results: list[JobResult], **options: object) -> dict[str, tuple[str, ...]]:
    """Student -> the notebooks that were run, of those who were graded or judged."""
    results.clear()
    assert not any(row.failure for row in grade_class(course, GradingOptions(SHEET, **options)))
    return {one.job.student: one.graded.ran for one in results if one.graded is not None}


def test_only_the_notebooks_that_changed_are_run(course, done):
    set_answer("ada", "twice_answer", "def twice(x):\n    return x + x")(course.root)
    assert ran(course, done) == {"ada": (SECOND,)}


def test_a_notebook_that_reads_a_changed_one_is_run_too(course, done):
    set_answer("ada", "moving_average_answer", "def moving_average(values, window):\n    return values")(course.root)
    assert ran(course, done) == {"ada": (FIRST, SECOND)}


@pytest.mark.parametrize("change", ["a mistake's words", "a tolerance", "expected answers"])
def test_a_changed_rule_runs_nothing(course, change, capsys):
    CHANGES[change](course.root)
    assert cli.main(["--course", str(course.root), "grade", SHEET]) == 0
    said = capsys.readouterr().out
    assert "Judged again, by the last run (" in said and "2 students" in said and "Graded again" not in said


def test_changed_points_run_nothing(course, done):
    CHANGES["points"](course.root)
    assert ran(course, done) == {"ada": (), "bob": ()}


def test_force_runs_everything(course, done):
    assert ran(course, done, force=True) == {"ada": (FIRST, SECOND), "bob": (FIRST, SECOND)}


def test_what_a_killed_grader_had_run_is_not_run_again(course, done):
    (course.root / ".autograder" / f"{SHEET}.jsonl").unlink()  # it was killed before it noted that all was saved
    shutil.rmtree(course.root / "autograded")
    assert ran(course, done) == {"ada": (), "bob": ()}


def packed_again(change: Callable[[dict[str, bytes]], dict[str, bytes]]) -> Callable[[bytes], bytes]:
    """Damage to the members of an archive."""

    def damage(whole: bytes) -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(made, "w") as new:
            for name, data in change({name: old.read(name) for name in old.namelist()}).items():
                new.writestr(name, data)
        return made.getvalue()

    return damage


def of_another_format(members: dict[str, bytes]) -> dict[str, bytes]:
    return members | {"submission.json": json.dumps({**json.loads(members["submission.json"]), "format": 0}).encode()}


DAMAGES = {
    "cut short": lambda whole: whole[: len(whole) // 2],
    "empty": lambda whole: b"",
    "zeros in the middle": lambda whole: whole[:200] + bytes(len(whole) - 400) + whole[-200:],
    "no archive": lambda whole: b"hello",
    "another format": packed_again(of_another_format),
    "no runs": packed_again(lambda all_: {"submission.json": all_["submission.json"], "0.json": b'{"name": 1}'}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_cannot_be_read_is_run_again_and_the_log_says_so(course, done, damage):
    path = path_of(course.root, SHEET, "ada")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    CHANGES["a mistake's words"](course.root)
    assert ran(course, done) == {"ada": (FIRST, SECOND), "bob": ()}
    log = (course.autograded("ada", SHEET) / "grading.log").read_text()
    assert "what was kept of its last run cannot be read" in log and "it is run again" in log
    assert stored_runs.read(path)[1] == ""


def test_an_archive_that_would_fill_the_memory_is_not_read(course):
    path = path_of(course.root, SHEET, "ada")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("submission.json", bytes(stored_runs.MAX_READ + 1))
    found, why = stored_runs.read(path)
    assert found is None and "larger than any that is written" in why


def test_answers_beyond_the_bound_are_not_kept(course):
    stored, _ = stored_runs.read(path_of(course.root, SHEET, "ada"))
    big = replace(stored.runs[FIRST], log=("x" * MAX_BYTES,))
    path = course.root / "big.zip"
    path.write_bytes(b"of an earlier run")
    noise = replace(big, answers={"0/a/0.safetensors": os.urandom(MAX_BYTES + 1)})
    why = stored_runs.write(path, replace(stored, runs={FIRST: noise}))
    assert "is not kept" in why and not path.exists()


def test_a_run_that_cannot_be_kept_costs_nobody_a_grade(course, done, monkeypatch):
    def full(path, data):
        raise GradingError(f"{path} cannot be written: No space left on device")

    monkeypatch.setattr(stored_runs, "write_file", full)
    set_answer("ada", "twice_answer", "def twice(x):\n    return x + x")(course.root)
    assert ran(course, done) == {"ada": (SECOND,)}
    assert "its run is not kept" in (course.autograded("ada", SHEET) / "grading.log").read_text()


def test_what_was_kept_comes_back_as_it_was(course):
    path = path_of(course.root, SHEET, "bob")
    stored, why = stored_runs.read(path)
    assert not why and set(stored.runs) == {FIRST, SECOND}
    assert not stored_runs.write(course.root / "again.zip", stored)
    assert stored_runs.read(course.root / "again.zip") == (stored, "")


def test_a_run_of_another_submission_is_not_judged(course):
    """The run of what was handed in and then taken back, while the grader was killed."""
    job = Job(course, SHEET, "ada", course.file.limits, "auto", basis="of another one")
    assert judge(job).graded is None


def test_explain_looks_at_the_last_run(course, capsys, monkeypatch):
    monkeypatch.setattr(running, "run", lambda *given, **more: pytest.fail("it was run again"))
    assert cli.main(["--course", str(course.root), "explain", "bob", SHEET, "moving_average"]) == 0
    assert "These are sums of the values in each window." in capsys.readouterr().out


def test_status_says_how_much_is_kept(course, capsys):
    assert cli.main(["--course", str(course.root), "status", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["assignments"]
    assert found["kept_bytes"] == sum(path.stat().st_size for path in (course.root / stored_runs.FOLDER).rglob("*.zip"))


@pytest.mark.parametrize("words", [("regrade", SHEET, "--diff"), ("check", SHEET, "--class")])
def test_an_author_sees_how_many_answers_a_new_name_matches(course, capsys, words):
    before = {path: path.read_bytes() for path in course.root.glob("autograded/**/*") if path.is_file()}
    rule = course.root / "exercises" / SHEET / "moving_average.py"
    rule.write_text(rule.read_text().replace('Mistake("sum"', 'Mistake("no-mean"'))
    assert cli.main(["--course", str(course.root), "references", SHEET]) == 0
    capsys.readouterr()
    assert cli.main(["--course", str(course.root), *words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["mistakes"]
    assert told == [
        {"exercise": "moving_average", "mistake": "no-mean", "before": 0, "now": 1},
        {"exercise": "moving_average", "mistake": "sum", "before": 1, "now": 0},
    ]
    assert {path: path.read_bytes() for path in course.root.glob("autograded/**/*") if path.is_file()} == before


#: So many changes are made before grades are compared.
AT_ONCE = 4


def run(root: Path, *words: str) -> str:
    done = subprocess.run(
        [Path(sys.executable).with_name("autograder"), "--course", str(root), *words], capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout + done.stderr


def everything(root: Path) -> dict[str, object]:
    """All that a student or an instructor gets to see: points, verdicts, notebooks, feedback."""
    run(root, "feedback", SHEET)
    seen: dict[str, object] = {}
    for stage in ("autograded", "feedback"):
        for path in sorted((root / stage).rglob("*")):
            if path.is_file() and path.name != "grading.log":
                seen[str(path.relative_to(root))] = without_times(path.read_text())
    for row in gather(Course(root), SHEET).rows:
        seen[row.student.id] = [(key, one.points, one.max_points, one.status) for key, one in row.exercises.items()]
    return seen


def test_after_all_changes_the_result_is_that_of_a_full_run(tmp_path):
    root = tmp_path / "course"
    make(root)
    run(root, "grade", SHEET)
    for start in range(0, len(CHANGES), AT_ONCE):
        names = sorted(CHANGES)[start : start + AT_ONCE]
        for name in names:
            CHANGES[name](root)
        run(root, "grade", SHEET)
        other = fresh(root, tmp_path / f"fresh{start}")
        run(other, "grade", SHEET)
        assert everything(root) == everything(other), names


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The tiny course, released without its checks; ada squares, eve is right, bob hands in the stub."""
    root = tmp_path_factory.mktemp("explain") / "course"
    source = tiny_course(root).source["1_tiny"]
    answers = {"ada": "def double(x):\n    return x ** 2", "eve": "def double(x):\n    return x + x", "bob": ""}
    stub = "def double(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    for place, text in (("release/tiny", ""), *((f"submitted/{who}/tiny", text) for who, text in answers.items())):
        made = nbformat.from_dict(source)
        for cell in made.cells:
            if cells.is_solution(cell):
                cell.source = text or stub
            elif cells.is_graded(cell):
                cell.source = cells.split_hidden(cell.source).visible
        (root / place).mkdir(parents=True)
        nbformat.write(made, root / place / "1_tiny.ipynb")
    yield root
    loader.forget()


def files(root) -> set[str]:
    """All but what Python and this program leave behind wherever they run."""
    names = {str(path.relative_to(root)) for path in root.rglob("*") if "__pycache__" not in path.parts}
    return names - {".autograder", ".autograder/.gitignore"}


def explained(root, capsys, student: str, exercise: str = "doubled") -> str:
    code = cli.main(["--course-dir", str(root), "explain", student, "tiny", exercise, "--no-isolation"])
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


def test_a_known_mistake_is_shown_with_both_answers(root, capsys):
    before = files(root)
    said = explained(root, capsys, "ada")
    assert "in        x: (5,) float64" in said
    assert "expected  doubled: (5,) float64 [" in said and "actual    doubled: (5,) float64 [" in said
    assert "largest difference:" in said and "mistake   squared" in said and "0 of 4 points (failed)" in said
    assert files(root) == before


def test_the_students_code_and_the_test_are_shown(root, capsys):
    said = explained(root, capsys, "ada")
    assert "The student's answer, doubled_answer:\n    def double(x):\n        return x ** 2\n" in said
    assert "The test, as it is in the source:" in said and 'reference("tiny/doubled")' in said


def test_a_right_answer_and_none_at_all(root, capsys):
    assert "4 of 4 points (passed)" in (said := explained(root, capsys, "eve")) and "  right" in said
    assert "nothing came from the student's code" in explained(root, capsys, "bob")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody", "tiny", "doubled"), "no submission to 'tiny' by nobody"),
        (("ada", "tiny", "dubbled"), "expected one of the exercises 1_tiny/doubled, got 'dubbled'"),
    ],
)
def test_bad_input_is_one_line(root, capsys, words, said):
    assert cli.main(["--course-dir", str(root), "explain", *words, "--no-isolation"]) == 2
    assert said in capsys.readouterr().err


def test_nothing_that_students_get_imports_it():
    users = [path for path in modules("autograder") if "pipeline.explanation" in path.read_text()]
    assert [path.name for path in users] == ["explain.py"]
