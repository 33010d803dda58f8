"""What the forge shows of the project: where to report a hole, forms for issues, what is updated."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml

from tests.grading import ROOT

FORGE = ROOT / ".github"
FORMS = {
    "bug.yml": {"steps", "doctor", "version"},
    "verdict.yml": {"exercise", "answer", "came", "expected"},
    "exercise.yml": {"idea"},
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_requires_what_an_answer_needs(name):
    form = yaml.safe_load((FORGE / "ISSUE_TEMPLATE" / name).read_text())
    assert form["name"] and form["description"]
    required = {field["id"] for field in form["body"] if field.get("validations", {}).get("required")}
    assert required == FORMS[name]


def test_a_hole_is_reported_to_this_repository():
    repository = tomllib.loads((ROOT / "course.toml").read_text())["repository"]
    (link,) = yaml.safe_load((FORGE / "ISSUE_TEMPLATE" / "config.yml").read_text())["contact_links"]
    assert link["url"] == f"https://github.com/{repository}/security/policy"


def test_every_place_with_dependencies_is_kept_up_to_date():
    updates = yaml.safe_load((FORGE / "dependabot.yml").read_text())["updates"]
    assert {one["package-ecosystem"] for one in updates} == {"pip", "github-actions", "docker"}
    (pip,) = [one for one in updates if one["package-ecosystem"] == "pip"]
    assert all((ROOT / folder.lstrip("/") / "pyproject.toml").is_file() for folder in pip["directories"])


@pytest.mark.parametrize("page", ["SECURITY.md", "RELEASING.md"])
def test_links_and_files_of_a_page_exist(page):
    text = (ROOT / page).read_text()
    named = re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r"`([\w./]+\.(?:md|toml|cff))`", text)
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []
