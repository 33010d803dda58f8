"""Tests that run in the student's own kernel are listed with their reason, counted, and refused where asked for."""

import json
import re
import shutil
from pathlib import Path

import pytest

from autograder import cli
from autograder.assignment.assignment import Assignment
from autograder.assignment.calibration import CellCalibration
from autograder.classroom import workers
from autograder.classroom.workers import JobResult
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Graded, NotebookVerdict, SubmissionVerdict, from_json, to_json
from autograder.pipeline.grade import ALONE, grade_submission
from autograder.pipeline.running import Runs
from autograder.plain.where import NOT_CALIBRATED, measuring_time, where_judged
from autograder.release.judgeable import unjudgeable
from autograder.report.statistics import in_kernel
from tests.plain import tiny
from tests.plain.notebooks import answer, graded, notebook, read_by_hand, write

SOLUTION = "def mean(xs):\n    ### BEGIN SOLUTION\n    return sum(xs) / len(xs)\n    ### END SOLUTION"
SOURCE_READ = "import inspect\nassert 'sum' in inspect.getsource(mean)"
REASON = "the solution does not pass outside of the student's kernel (AttributeError:"
LISTED = f"1_means.ipynb, cell 'no_loop' (2 points): {REASON}"


@pytest.fixture
def course(tmp_path: Path, monkeypatch) -> Course:
    """One of two tests reads the student's source. It is not released."""
    tests = graded("mean", "assert mean([1, 2]) == 1.5", 3), graded("no_loop", SOURCE_READ, 2)
    write(notebook(answer("mean_answer", SOLUTION), *tests), tmp_path / "source" / "ps1" / "1_means.ipynb")
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'means'\n")
    monkeypatch.chdir(tmp_path)
    return Course(tmp_path)


def judged(test: str, *above) -> str:
    """Where this test cell is judged by its text, and why."""
    one = where_judged(notebook(*above, graded("t", test)), {"t": CellCalibration("outside")})["t"]
    return f"{one.judged}: {one.reason}"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "release", "grade"])
def test_require_outside_refuses_and_names_cell_and_reason(course, capsys, command):
    if command == "grade":
        assert cli.main(["release", "ps1"]) == 0
        shutil.copytree(course.root / "release" / "ps1", course.root / "submitted" / "ada" / "ps1")
        capsys.readouterr()
    assert cli.main([command, "ps1", "--require-outside"]) == 2
    assert LISTED in capsys.readouterr().err


@pytest.mark.slow
def test_each_cell_is_listed_with_its_reason_before_the_proofs(course, capsys):
    assert cli.main(["check", "ps1", "--json"]) == 0
    said = capsys.readouterr()
    (one,) = json.loads(said.out)["assignments"]
    assert [(cell["cell"], cell["points"]) for cell in one["judged_in_kernel"]] == [("no_loop", 2)]
    assert "2 of 5 points rest on tests in the student's own kernel" in said.err and LISTED in said.err


def test_an_author_can_ask_for_the_kernel_with_a_line_in_the_cell():
    assert judged("assert mean([1]) == 1", answer("a", SOLUTION)) == "outside: "
    forced = "### BEGIN HIDDEN TESTS\n# autograder: kernel\nassert mean([1]) == 1\n### END HIDDEN TESTS"
    assert judged(forced, answer("a", SOLUTION)) == "kernel: the line '# autograder: kernel' asks for it"


def test_a_misspelt_request_stops_the_release(course):
    source = notebook(answer("a", SOLUTION), graded("t", "#autograder: kernal\nassert mean([1]) == 1"))
    write(source, course.root / "source" / "ps1" / "1_means.ipynb")
    (said,) = unjudgeable(Assignment.unreleased(course, "ps1"))
    assert "'# autograder: kernal' is not known" in said and "cell 't'" in said


def test_what_a_human_reads_and_a_cell_with_a_reference_are_no_plain_tests():
    hidden = "from autograder import reference\nfor case in reference('a/b'):\n    case.compare(y=mean(case.x))"
    tested = graded("t", f"### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS")
    assert where_judged(notebook(tested, read_by_hand("essay", "import inspect", kind="code")), {}) == {}


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("%timeit mean([1])", "magic"),
        ("files = !ls\nassert files", "the shell"),
        ("get_ipython().user_ns['mean']", "get_ipython()"),
        ("from yaml import load\nassert load(mean([1]), None)", "makes objects of a text"),
        ("mean(", "no Python"),
    ],
)
def test_a_cell_that_may_execute_a_text_of_the_students_is_judged_in_the_kernel_with_the_reason(test, reason):
    assert re.match(f"kernel: .*{re.escape(reason)}", judged(test, answer("a", SOLUTION)))


def test_a_cell_of_which_nothing_is_known_is_judged_as_nbgrader_does():
    assert where_judged(notebook(graded("t", "assert f()")), {})["t"] == CellCalibration("kernel", NOT_CALIBRATED)


def test_the_report_counts_the_points_that_rest_on_the_students_kernels():
    cells = (
        CellVerdict("mean", "passed", 3.0, 3.0, judged="outside"),
        CellVerdict("no_loop", "failed", 0.0, 2.0, judged="kernel"),
        CellVerdict("shown", "passed", 0.0, 0.0, judged="kernel"),
    )
    class_ = [SubmissionVerdict(name, "ps1", (NotebookVerdict(name, "ps1", "1", cells),)) for name in "ab"]
    assert in_kernel(class_) == [("1", "no_loop", 2.0)]


def test_a_verdict_of_an_earlier_version_is_read_as_judged_by_references():
    cell = CellVerdict("mean", "passed", 3.0, 3.0)
    written = json.loads(to_json(SubmissionVerdict("ada", "ps1", (NotebookVerdict("ada", "ps1", "1", (cell,)),))))
    del written["notebooks"][0]["cells"][0]["judged"]
    written["notebooks"][0]["cells"][0]["inside"] = None
    assert from_json(json.dumps(written)).notebooks[0].cells[0].judged == "reference"


TIMER = """
import time
class Timer:
    def __enter__(self):
        self.start = time.perf_counter()
        return self
    def __exit__(self, *_):
        self.elapsed = time.perf_counter() - self.start
"""
QUICK = "with Timer() as timer:\n    double(2)\nassert timer.elapsed < 1"
TIMED = tiny.assignment(
    tiny.cell(TIMER), tiny.solution("def double(x):\n    return 2 * x", "double_answer"), tiny.test(QUICK, "quick", 2),
    tiny.test("assert double(2) == 4", "right", 3),
)  # fmt: skip


def test_a_test_that_measures_time_is_known_by_what_it_uses():
    assert measuring_time(TIMED.source["nb"]) == {"quick"}


@pytest.mark.slow
@pytest.mark.parametrize(("slow_too", "quick"), [(None, 0), ((), 0), ((("nb", "quick"),), None), ((("nb", "x"),), 0)])
def test_who_is_too_slow_is_not_charged_where_the_solution_is_too_slow_as_well(slow_too, quick):
    made = tiny.calibrated(TIMED)
    sent = tiny.submission(
        made, {"double_answer": "import time\ndef double(x):\n    time.sleep(1.5)\n    return 2 * x"}
    )
    runs = Runs("", too_slow=slow_too)
    done = grade_submission(sent, made, tiny.kernels(), tiny.LIMITS, runs=runs)
    assert runs.now is None  # judged again, it would be charged
    assert done.hurried and tiny.points(done) == {"quick": quick, "right": 3}
    assert (ALONE in done.verdict.notebooks[0].notes) == (slow_too is not None)


def test_who_failed_a_test_that_measures_time_is_graded_once_more_with_nothing_beside_it(monkeypatch):
    asked = []

    def side_by_side(queue, *_):
        yield from (
            JobResult(job, Graded(SubmissionVerdict(job.student, "ps1", ()), {}, (), hurried=job.student == "slow"))
            for job in queue
        )

    def alone(job, _):
        asked.append(job)
        return JobResult(job, None)

    monkeypatch.setattr(workers, "_side_by_side", side_by_side)
    monkeypatch.setattr(workers, "_alone", alone)
    jobs = [workers.Job(Course(Path("/nowhere")), "ps1", name, tiny.LIMITS, "auto") for name in ("ada", "slow", "bob")]
    assert [done.job.student for done in workers.local_results(jobs, 1)] == ["ada", "bob", "slow"]
    assert [(job.student, job.alone) for job in asked] == [("slow", True)]
