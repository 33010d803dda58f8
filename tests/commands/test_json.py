"""``--json``: one document alone on stdout, with the keys that docs/commands.md names; and ``--quiet``."""

import json
import re
import shutil
import zipfile
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from autograder import cli, isolation
from autograder.authoring.check import ExerciseCheck
from autograder.classroom import run as class_run
from autograder.classroom.rows import Row
from autograder.commands import _checks, release
from autograder.isolation.selftest import Probe
from autograder.model.course import Course
from autograder.pipeline.execute import Kernels
from autograder.plain.where import KernelCell
from autograder.release import verify
from autograder.release.findings import Finding
from autograder.release.verify import Verification
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, build_course
from tests.grading import ROOT

ROWS = [
    Row("ada", {NOTEBOOK: 3.0}, {NOTEBOOK: 5.0}, failed=("why",), so_far={NOTEBOOK: 3.0}),
    Row("bob", {NOTEBOOK: None}, {NOTEBOOK: 5.0}, waiting=("why",), so_far={NOTEBOOK: 2.0}),
    Row("cleo", {}, {}, failure="the worker died"),
]
#: An assignment without a plain test.
NO_TESTS = SimpleNamespace(source={}, max_points=0)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return build_course(tmp_path_factory.mktemp("toy") / "course")


@pytest.fixture
def course(built: Course, tmp_path) -> Course:
    return Course(shutil.copytree(built.root, tmp_path / "course"))


@pytest.fixture
def type_(course, monkeypatch, capsys):
    """Type a command in the course's folder. -> exit code, stdout, stderr"""
    monkeypatch.chdir(course.root)
    monkeypatch.setattr(class_run, "grade_class", lambda *_: ROWS)
    monkeypatch.setattr(Kernels, "open", lambda isolation, imports: nullcontext())

    def type_(*words: str) -> tuple[int, str, str]:
        code = cli.main([*words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return type_


def proven(monkeypatch, *problems: str) -> None:
    """The drafted release has these problems. Nothing is drafted: the toy's exercise has no oracle."""
    accepted = ((Finding("leak", "toy", "a line"), "shown on purpose"),)
    found = [Verification("nothing leaks", tuple(Finding("leak", "toy", one) for one in problems), accepted)]
    draft = SimpleNamespace(verify=lambda kernels: iter(found), put_in_place=lambda: None, assignment=NO_TESTS)
    draft.course = SimpleNamespace(root=ROOT / "nowhere")
    draft.calibrated = lambda kernels: draft
    monkeypatch.setattr(verify, "drafted", lambda course, name: nullcontext(draft))
    monkeypatch.setattr(_checks, "exercises", lambda *_: [])
    monkeypatch.setattr(release, "_sample_answers", lambda *_: [])


def keys(document: object) -> set[str]:
    """All keys in a document, however deep."""
    if isinstance(document, dict):
        return set(document) | {key for value in document.values() for key in keys(value)}
    return {key for value in document for key in keys(value)} if isinstance(document, list) else set()


def documented(command: str) -> set[str]:
    guide = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"(?m)^\| `{command}` \| (.*) \|$", guide)
    return set(re.findall(r"`([a-z_]+)`", row))


def test_grade_says_what_every_student_has(type_):
    code, out, _ = type_("grade", ASSIGNMENT, "--no-isolation", "--json")
    document = json.loads(out)
    assert code == 1
    assert document["assignment"] == ASSIGNMENT
    assert [(one["student"], one["points"], one["points_so_far"]) for one in document["students"]] == [
        ("ada", 3.0, 3.0), ("bob", None, 2.0), ("cleo", None, None)
    ]  # fmt: skip
    assert documented("grade") <= keys(document)


def test_the_warnings_of_grade_stay_on_stderr(type_):
    _, out, err = type_("grade", ASSIGNMENT, "--no-isolation", "--json")
    assert "Without isolation" in err and "cleo" in err
    assert "Without isolation" not in out


def test_quiet_grading_says_who_failed_and_nothing_else(type_):
    code, out, err = type_("--quiet", "grade", ASSIGNMENT)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1] == "cleo: the worker died" and "ada" not in err


def test_collect_says_what_became_of_every_upload(type_, course, tmp_path):
    with zipfile.ZipFile(tmp_path / "uploads.zip", "w") as archive:
        archive.write(course.release(ASSIGNMENT) / f"{NOTEBOOK}.ipynb", f"ada_101_9001_{NOTEBOOK}.ipynb")
    words = ("collect", ASSIGNMENT, str(tmp_path / "uploads.zip"), "--from", "canvas", "--json")
    assert type_(*words)[:2] == (2, "")  # nobody is asked where a program reads
    code, out, _ = type_(*words, "--yes")
    document = json.loads(out)
    assert code == 0
    assert [(one["student"], one["outcome"]) for one in document["students"]] == [("ada-101", "new")]
    assert documented("collect") - {"file", "reason"} <= keys(document)


@pytest.mark.parametrize(("problems", "code"), [((), 0), (("a value of the reference",), 1)])
def test_release_says_what_holds(type_, monkeypatch, problems, code):
    proven(monkeypatch, *problems)
    found, out, err = type_("release", ASSIGNMENT, "--json")
    (one,) = json.loads(out)["assignments"]
    assert found == code
    assert one["released"] is not bool(problems)
    found, accepted = [f"toy: {one}" for one in problems], [{"finding": "toy: a line", "reason": "shown on purpose"}]
    assert one["checks"][0] == {"check": "nothing leaks", "problems": found, "accepted": accepted, "notes": []}
    assert all(problem in err for problem in problems)


def test_a_quiet_release_says_what_does_not_hold(type_, monkeypatch):
    proven(monkeypatch)
    assert type_("release", ASSIGNMENT, "--quiet") == (0, "", "")
    proven(monkeypatch, "a value of the reference")
    _, out, err = type_("release", ASSIGNMENT, "--quiet")
    assert out == "" and "a value of the reference" in err


def test_check_says_what_an_author_must_know(type_, monkeypatch):
    proven(monkeypatch)
    entry = {**vars(ExerciseCheck("doubled", 1, 1)), "problems": [], "doubts": []}
    monkeypatch.setattr(_checks, "exercises", lambda *_: [entry])
    cell = vars(KernelCell("1_sums", "row_sums", 3.0, "it uses get_ipython()"))
    monkeypatch.setattr(_checks, "kernel_cells", lambda *_: [cell])
    code, out, _ = type_("check", ASSIGNMENT, "--json")
    document = json.loads(out)
    assert (code, document["assignments"][0]["holds"]) == (0, True)
    assert documented("check") <= keys(document)


def test_status_has_the_keys_of_the_guide(type_):
    code, out, _ = type_("status", "--json")
    assert code in (0, 1)
    assert documented("status") <= keys(json.loads(out))


@pytest.mark.parametrize("stopped", [True, False])
def test_doctor_says_whether_code_can_be_confined_here(type_, monkeypatch, stopped):
    monkeypatch.setattr(isolation, "available", lambda: None)
    monkeypatch.setattr(isolation, "self_test", lambda: [Probe("read a file", stopped, "refused")])
    code, out, err = type_("doctor", "--json")
    document = json.loads(out)
    assert (code, document["confined"]) == (0 if stopped else 1, stopped)
    assert document["stopped"] == {"read a file": stopped}
    assert ("THIS ONE ESCAPED" in err) is not stopped
    assert documented("doctor") <= keys(document)


def test_what_cannot_be_done_leaves_stdout_empty(type_):
    code, out, err = type_("grade", "nowhere", "--json", "--workers", "0")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1


def test_the_log_goes_to_stderr_and_only_when_asked_for(type_, course):
    _, out, err = type_("status", "--json")
    assert err == ""
    _, said, err = type_("status", "--json", "-v")
    assert said == out
    assert f"INFO autograder.commands._options: course {course.root}" in err
