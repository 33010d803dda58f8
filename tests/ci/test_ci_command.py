"""``autograder ci``: the points of ``autograder grade``, nothing else touched, and clear exit codes."""

import json
import shutil
from xml.etree import ElementTree

import pytest

from autograder import cli
from autograder.assignment.assignment import Assignment
from autograder.ci import FILES, outcome
from autograder.errors import InfrastructureError
from autograder.release.leaks.search import Hidden, found_in
from tests.ci.conftest import everything_in
from tests.ci.test_results import every_status
from tools.demo import EXPECTED


@pytest.fixture
def ci(sample, capsys, tmp_path):
    """Run the command; returns exit code, standard output, standard error. Results go to ``tmp_path / "out"``."""

    def run(folder, *words, assignment="distilbert"):
        options = ["--out", str(tmp_path / "out"), *words]
        code = cli.main(["--course", str(sample.root), "ci", assignment, str(folder), *options])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.mark.slow
def test_the_sample_class_gets_the_points_of_autograder_grade_and_nothing_else_is_written(
    sample, ci, one_template, tmp_path
):
    before = everything_in(sample.root)
    (tmp_path / "all").mkdir()
    for student in ("barbara", "edsger", "grace", "mallory"):  # half, damaged, wrong, forged
        deserved = EXPECTED[student]
        code, out, _ = ci(sample.submitted(student, "distilbert"), "--student", student)
        results = json.loads((tmp_path / "out" / "results.json").read_text())
        assert (code, results["score"]) == (0, deserved), student
        assert sum(test.get("score", 0) for test in results["tests"]) == deserved
        assert f"{student}: {deserved:g} of 50 points" in out
        root = ElementTree.parse(tmp_path / "out" / "junit.xml").getroot()
        full = [test for test in results["tests"] if test["status"] == "passed"]
        assert len(root.findall(".//testcase")) - len(root.findall(".//failure")) == len(full)
        assert f"**{deserved:g} of 50 points**" in (tmp_path / "out" / "summary.md").read_text()
        shutil.move(tmp_path / "out", tmp_path / "all" / student)
    assert found_in(tmp_path / "all", [Hidden.of(Assignment.open(sample.root, "distilbert"))]) == []
    assert everything_in(sample.root) == before


@pytest.mark.slow
def test_what_is_held_back_is_nowhere_but_in_results_json(sample, ci, one_template, tmp_path):
    code, out, _ = ci(sample.submitted("grace", "distilbert"), "--visible-only", "--student", "grace")
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert (code, results["score"]) == (0, EXPECTED["grace"])
    held = [test for test in results["tests"] if test["visibility"] == "after_published"]
    assert len(held) == 17  # one of them questions on own code
    shown = out + (tmp_path / "out" / "summary.md").read_text() + (tmp_path / "out" / "junit.xml").read_text()
    # a check says what feedback says; of what no check says nothing is shown
    checks = " ".join(test["output"] for test in results["tests"] if test["visibility"] == "visible")
    for test in held:
        first = test["output"].split("\n")[0]
        assert not first or first in checks or first not in shown
    assert " points" not in shown.replace("decide over the points", "")
    assert " of 17 visible checks pass" in out
    # Grace's weights are wrong, her context is right: by grading and by the visible checks alike
    named = {test["name"]: test for test in results["tests"]}
    for part, status in (("weights", "failed"), ("context", "passed")):
        assert named[f"2 Attention block: Attention {part}"]["status"] == status
        assert named[f"2 Attention block: Attention {part} (visible check)"]["status"] == status
    assert found_in(tmp_path / "out", [Hidden.of(Assignment.open(sample.root, "distilbert"))]) == []


@pytest.fixture
def asked(monkeypatch):
    """What the grading was asked for; each has 7.5 points."""
    calls = []
    monkeypatch.setattr("autograder.ci.outcome.grade_folder", lambda *given: calls.append(given) or every_status())
    return calls


def test_a_limit_makes_the_run_fail_below_it_and_only_there(sample, ci, asked):
    for limit, code in (("8", 1), ("7.5", 0)):
        assert ci(sample.submitted("ada", "distilbert"), "--fail-under", limit)[0] == code


def test_a_folder_without_notebooks_is_no_zero(ci, tmp_path):
    (tmp_path / "empty").mkdir()
    code, out, _ = ci(tmp_path / "empty")
    assert code == 2
    assert "no notebook was handed in; expected 1_embedding.ipynb" in out
    assert "score" not in json.loads((tmp_path / "out" / "results.json").read_text())
    assert set(everything_in(tmp_path / "out")) == set(FILES)


@pytest.mark.parametrize("error", [InfrastructureError("no kernel could be started"), RuntimeError("a fault of ours")])
def test_a_failure_of_the_grader_is_no_zero(sample, ci, one_template, monkeypatch, tmp_path, error):
    def fail(isolation, fork_server, imports):
        raise error

    monkeypatch.setattr(outcome.Kernels, "open", fail)
    code, out, _ = ci(sample.submitted("ada", "distilbert"))
    assert code == 2
    assert str(error) in out
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert set(results) == {"output", "stdout_visibility"}


def test_results_of_an_earlier_run_do_not_stay(sample, ci, monkeypatch, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.json").write_text('{"score": 50}')

    def stop(*words):
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.ci.outcome.grade_folder", stop)
    assert ci(sample.submitted("ada", "distilbert"))[0] == 130
    assert everything_in(tmp_path / "out") == {}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--until", "tomorrow"), "--until takes a moment with its time zone"),
        (("--until", "2026-12-01T18:00"), "--until takes a moment with its time zone"),
        (("--visible-only", "--fail-under", "10"), "--fail-under would tell what hidden tests said"),
        (("--until", "2999-01-01T00:00+00:00", "--fail-under", "1"), "--fail-under would tell"),
    ],
)
def test_what_cannot_be_asked_for_is_said_in_one_line_and_nothing_is_written(sample, ci, tmp_path, words, message):
    code, out, error = ci(sample.submitted("ada", "distilbert"), *words)
    assert (code, out) == (2, "")
    assert message in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_or_an_assignment_that_is_not_there_is_named(sample, ci, tmp_path):
    assert "there is no folder" in ci(tmp_path / "nowhere")[2]
    code, _, error = ci(sample.submitted("ada", "distilbert"), assignment="distilbort")
    assert code == 2
    assert "did you mean 'distilbert'" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("until", "visibility"), [("2999-01-01T00:00+00:00", "after_due_date"), ("2001-01-01T00:00Z", "visible")]
)
def test_until_a_moment_means_that_moment(sample, ci, asked, tmp_path, until, visibility):
    assert ci(sample.submitted("ada", "distilbert"), "--until", until)[0] == 0
    tests = json.loads((tmp_path / "out" / "results.json").read_text())["tests"]
    assert visibility in {test["visibility"] for test in tests if "score" in test}


@pytest.mark.parametrize(("words", "isolation"), [((), "auto"), (("--no-isolation",), "none")])
def test_a_submission_is_confined_unless_told_otherwise_in_so_many_words(sample, ci, asked, words, isolation):
    _, _, error = ci(sample.submitted("ada", "distilbert"), *words)
    assert [given[4] for given in asked] == [isolation]
    assert ("Without isolation" in error) == (isolation == "none")
