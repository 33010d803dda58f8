"""Tests that run in the student's own kernel are listed with their reason, counted, and refused where asked for."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder import cli
from autograder.authoring import check as authoring
from autograder.model.assignment import Assignment
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, NotebookVerdict, SubmissionVerdict, from_json, to_json
from autograder.pipeline.execute import Kernels
from autograder.plain.in_kernel import KernelCell, judged_in_kernel
from autograder.plain.names import remote_names
from autograder.plain.where import where_judged
from autograder.release import verify
from autograder.release.judgeable import unjudgeable
from autograder.report.statistics import in_kernel
from tests.plain.notebooks import answer, code, graded, notebook, read_by_hand, write

SOLUTION = "def mean(xs):\n    ### BEGIN SOLUTION\n    return sum(xs) / len(xs)\n    ### END SOLUTION"
SOURCE_READ = "import inspect\nassert 'for' not in inspect.getsource(mean)"
LISTED = "1_means.ipynb, cell 'no_loop' (2 points): it reads the student's source (inspect.getsource)"


@pytest.fixture
def course(tmp_path: Path, monkeypatch) -> Course:
    """One of two tests reads the student's source. It is not released."""
    tests = graded("mean", "assert mean([1, 2]) == 1.5", 3), graded("no_loop", SOURCE_READ, 2)
    write(notebook(answer("mean_answer", SOLUTION), *tests), tmp_path / "source" / "ps1" / "1_means.ipynb")
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'means'\n")
    monkeypatch.chdir(tmp_path)
    return Course(tmp_path)


def judged(test: str, *above) -> str:
    """Where this test cell is judged, and why."""
    one = where_judged(notebook(*above, graded("t", test)))["t"]
    return f"{one.where}: {one.reason}"


def test_the_cells_of_an_assignment_are_found_with_points_and_reason(course):
    found = judged_in_kernel(Assignment.unreleased(course, "ps1"))
    assert [str(one) for one in found] == [LISTED]
    assert found[0] == KernelCell("1_means", "no_loop", 2.0, "it reads the student's source (inspect.getsource)")


@pytest.mark.parametrize("command", ["check", "release", "grade"])
def test_require_outside_refuses_and_names_cell_and_reason(course, capsys, command):
    assert cli.main([command, "ps1", "--require-outside"]) == 2
    said = capsys.readouterr().err
    assert LISTED in said and len(said.splitlines()) == 1


@pytest.mark.parametrize("command", ["check", "release"])
def test_each_cell_is_listed_with_its_reason_before_the_proofs(course, capsys, monkeypatch, command):
    draft = SimpleNamespace(
        assignment=Assignment.unreleased(course, "ps1"), verify=lambda kernels: iter(()), put_in_place=lambda: None
    )
    monkeypatch.setattr(verify, "drafted", lambda course, name: nullcontext(draft))
    monkeypatch.setattr(Kernels, "open", lambda isolation, imports: nullcontext())
    monkeypatch.setattr(authoring, "check_exercises", lambda *_: [])
    assert cli.main([command, "ps1", "--json"]) == 0
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


def test_an_answer_in_code_that_a_human_reads_is_no_plain_test():
    assert where_judged(notebook(read_by_hand("essay", "import inspect", kind="code"))) == {}


def test_a_cell_with_a_reference_is_no_plain_test():
    hidden = "from autograder import reference\nfor case in reference('a/b'):\n    case.compare(y=mean(case.x))"
    assert where_judged(notebook(graded("t", f"### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"))) == {}


def test_the_last_cell_that_binds_a_name_says_whose_it_is():
    cells = (answer("a", "def f(): pass\nx = 1"), code("x = 2"), answer("b", "y = 3"), graded("t", "f(); x; y"))
    assert remote_names(notebook(*cells), 3) == {"f", "y"}


@pytest.mark.parametrize(
    ("test", "solution"),
    [
        ("data = [1]\nassert mean(data) == 1", "data = [1, 2]\ndef mean(xs):\n    return sum(xs) / len(xs)"),
        ("import numpy as np\nassert np.isclose(f(1), 1)", "import numpy as np\ndef f(x):\n    return np.abs(x)"),
        ("assert [_ for _ in range(2)] == f(2)", "def f(n):\n    return list(range(n))"),
        ("%matplotlib inline\nassert f() == 1", "def f():\n    return 1"),
        ("import sys, io\nsys.stdout = io.StringIO()", "def f():\n    return 1"),
        ("assert open('data.csv').read()", "def f():\n    return 1"),
        ("from pathlib import Path\nassert f() == Path('a/b')", "def f():\n    return 1"),
        ("net.eval()\nassert net.mode == 'eval'", "net = Net()"),
    ],
)
def test_what_only_looks_like_it_needs_the_students_kernel_is_judged_outside(test, solution):
    source = notebook(answer("a", solution), graded("t", test))
    assert where_judged(source, files=["data.csv"])["t"].where == "outside"


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("%timeit mean([1])", "%timeit"),
        ("!cat notes.txt", "shell"),
        ("files = !ls\nassert files", "shell"),
        ("assert In[-1]", "history (In)"),
        ("assert _ == 3", "history (_)"),
        ("get_ipython().user_ns['mean']", "get_ipython()"),
        ("del mean", "deletes the student's 'mean'"),
        ("from inspect import getsource as text\nassert 'for' not in text(mean)", "source"),
        ("import random\nrandom.random = lambda: 0.5\nassert mean([1])", "random.random"),
        ("import builtins\nbuiltins.input = lambda prompt: '3'", "builtins.input"),
        ("import os\nos.environ['MODE'] = 'x'", "os.environ"),
        ("globals()['mean'] = None", "globals()"),
        ("for name, value in globals().items():\n    assert name", "all names"),
        ("exec('mean([1])')", "as code"),
        ("import pickle\nassert pickle.loads(mean([1])) == 1", "as code"),
        ("import models\nassert models.f()", "imports models, which students write"),
        ("with open('out.txt', 'w') as file:\n    file.write('x')", "writes a file"),
        ("assert mean([1]) == 1\nassert open('out.txt').read()", "out.txt"),
        ("from pathlib import Path\nassert Path('out.txt').exists()", "out.txt"),
        ("import signal\nsignal.alarm(3)", "process"),
        ("assert plt.gca().get_title()", "pyplot"),
        ("mean(", "no Python"),
    ],
)
def test_what_only_works_in_the_students_process_is_judged_there_with_the_reason(test, reason):
    source = notebook(answer("a", f"import matplotlib.pyplot as plt\n{SOLUTION}"), graded("t", test))
    found = where_judged(source, files=["models.py"], deliverables=["models.py"])["t"]
    assert found.where == "kernel" and reason in found.reason, found


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
    assert from_json(json.dumps(written)).notebooks[0].cells[0].judged == "reference"
