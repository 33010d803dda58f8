"""What ``autograder bundle github`` writes: its steps run here as GitHub and Classroom 50 would run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.cli import main
from autograder.isolation import IsolationUnavailable, available
from autograder.release.leaks.search import leaks
from tests.ci.test_workflows import actionlint, steps

RIGHT = "return np.convolve(values, np.ones(window), 'valid') / window"
SECRET = "ghs_ThisIsTheJobsToken"
BIN = Path(sys.executable).parent


def confined() -> bool:
    try:
        available()
    except IsolationUnavailable:
        return False
    return True


pytestmark = pytest.mark.skipif(not confined(), reason="nothing confines students' code on this machine")


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small course of ``autograder init``, and what is written for GitHub."""
    home = tmp_path_factory.mktemp("github")
    course = home / "course"
    assert main(["init", str(course)]) == 0
    for words in (["references", "signals", "--seed", "5"], ["release", "signals"]):
        assert main(["--course-dir", str(course), *words]) == 0
    assert main(["--course-dir", str(course), "bundle", "github", "signals", "--out", str(home / "out")]) == 0
    return home


def submission(written: Path, folder: Path, answer: str) -> Path:
    """A student's repository: made from the template, with an answer filled in."""
    shutil.copytree(written / "out" / "template", folder)
    for path in folder.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == "moving_average_answer":
                cell.source = re.sub(
                    r"# YOUR CODE HERE\s+raise NotImplementedError(\(\))?", lambda _: answer, cell.source
                )
                assert answer in cell.source
        nbformat.write(notebook, path)
    return folder


def test_the_folder_has_what_both_need_and_no_model_answer(written):
    out = written / "out"
    assert sorted(path.name for path in out.iterdir() if path.name[0] != ".") == ["classroom50", "grader", "template"]
    own = out / "classroom50" / "autograders" / "signals"
    assert sorted(path.name for path in own.iterdir()) == ["autograder.py", "bundle.zip"]
    assert sum(path.stat().st_size for path in own.iterdir()) < 10 << 20
    assert {path.name for path in (out / "template").glob("*.ipynb")} == {
        path.name for path in (written / "course" / "release" / "signals").glob("*.ipynb")
    }
    found = map(str, leaks(out / "grader", [Assignment.open(written / "course", "signals")]))
    # the grader's own example, of which this course is a copy, is in every installation
    assert [leak for leak in found if "solution" in leak and "authoring/templates" not in leak] == []


def test_the_references_are_not_those_of_the_exam(written):
    name = "exercises/signals/expected.zip"
    assert (written / "out" / "grader" / name).read_bytes() != (written / "course" / name).read_bytes()


def test_the_workflow_is_linted_and_grades_this_assignment(written):
    workflow = written / "out" / "template" / ".github" / "workflows" / "grade.yml"
    done = actionlint(workflow)
    assert (done.returncode, done.stdout) == (0, "")
    (grade,) = [step for step in steps(workflow) if step["name"] == "Grade"]
    assert grade["env"] == {"ASSIGNMENT": "signals"}


def test_the_workflows_own_steps_grade_a_submission(written, tmp_path):
    submission(written, tmp_path / "submission", RIGHT)
    shutil.copytree(written / "out" / "grader", tmp_path / "course")
    workflow = written / "out" / "template" / ".github" / "workflows" / "grade.yml"
    environment = {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "GITHUB_REPOSITORY": "org/signals-ada",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "page.md"),
    }  # fmt: skip
    for step in steps(workflow):
        if step["name"] in ("Grade", "Summary"):
            assert "secrets." not in str(step)
            command = ["bash", "-e", "-c", step["run"]]
            done = subprocess.run(
                command, cwd=tmp_path, env={**environment, **step.get("env", {})}, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    assert results["score"] == sum(test["max_score"] for test in results["tests"] if "max_score" in test) > 0
    assert (tmp_path / "page.md").read_text() == (tmp_path / "results" / "summary.md").read_text()


def classroom50(written: Path, checkout: Path, temporary: Path) -> subprocess.CompletedProcess[str]:
    """As its runner calls it: the files of the assignment in one folder, the student's checkout as working folder."""
    shutil.copytree(written / "out" / "classroom50" / "autograders" / "signals", temporary / "bundle")
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(temporary), "AUTOGRADER_PYTHON": sys.executable, "CLASSROOM": "dl",
        "ASSIGNMENT": "signals", "ASSIGNMENT_TYPE": "individual", "USERNAME": "ada", "OWNER": "ada",
        "SUBMISSION_TAG": "submit/2027-01-15T10-00-00Z-abc", "COMMIT_URL": "https://github.com/o/r/commit/abc",
        "RELEASE_URL": "https://github.com/o/r/releases/tag/x", "GITHUB_TOKEN": SECRET, "GH_TOKEN": SECRET,
    }  # fmt: skip
    command = [sys.executable, str(temporary / "bundle" / "autograder.py")]
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)


#: A student's code that looks for the job's token in its own environment and in that of every process it can see.
LOOK = """import os, glob
    seen = "".join(map(str, os.environ.items()))
    for path in glob.glob("/proc/*/environ"):
        try:
            seen += open(path, "rb").read().decode("utf-8", "replace")
        except OSError:
            pass
    assert "Token" not in seen, "TOKEN SEEN"
    return np.convolve(values, np.ones(window), 'valid') / window"""


def test_classroom_50_gets_the_result_of_its_contract_and_the_student_no_token(written, tmp_path):
    checkout = submission(written, tmp_path / "repository", LOOK)
    (tmp_path / "elsewhere").write_text("not to be written")
    (checkout / "result.json").symlink_to(tmp_path / "elsewhere")
    done = classroom50(written, checkout, tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads((checkout / "result.json").read_text())
    assert (tmp_path / "elsewhere").read_text() == "not to be written"
    assert result["schema"] == "classroom50/result/v1"
    assert (result["classroom"], result["assignment"], result["owner"]) == ("dl", "signals", "ada")
    assert result["submission"].startswith("submit/") and result["datetime"].endswith("Z")
    assert {type(result[key]) for key in ("score", "max-score")} == {int}
    assert result["score"] == sum(test["score"] for test in result["tests"])
    assert result["score"] == result["max-score"] > 0
    assert all(set(test) == {"test-name", "passed", "score", "max-score"} for test in result["tests"])
    assert (checkout / "release-body.md").is_file()
    assert SECRET not in done.stdout + done.stderr + (checkout / "result.json").read_text()


def test_a_failure_of_the_grader_is_an_error_there_and_never_a_zero(written, tmp_path):
    (tmp_path / "repository").mkdir()
    done = classroom50(written, tmp_path / "repository", tmp_path)
    assert done.returncode == 1 and "::error::not graded" in done.stderr
    assert not (tmp_path / "repository" / "result.json").exists()


def test_a_folder_with_something_else_in_it_is_left_alone(written, tmp_path, capsys):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "a.tex").write_text("years")
    words = ["bundle", "github", "signals", "--out", str(tmp_path / "thesis")]
    assert main(["--course-dir", str(written / "course"), *words]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["a.tex"]
