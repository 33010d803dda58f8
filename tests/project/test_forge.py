"""What the forge shows of the project: where to report a hole, forms for issues, what is updated."""

import os
import re
import shutil
import subprocess
import sys
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


@pytest.mark.parametrize("page", [".github/SECURITY.md", "docs/releasing.md", ".github/CONTRIBUTING.md"])
def test_links_and_files_of_a_page_exist(page):
    text = (ROOT / page).read_text()
    links = [(ROOT / page).parent / link for link in re.findall(r"\]\(([^)#:]+)\)", text)]
    named = [ROOT / name for name in re.findall(r"`([\w./]+\.(?:md|toml|cff))`", text)]
    assert links or named
    assert [path for path in (*links, *named) if not path.is_file()] == []


def test_fragments_become_a_section_of_the_changelog(tmp_path):
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "docs" / "changes", tmp_path / "docs" / "changes")
    (tmp_path / "docs" / "changes" / "pages.instructor.md").write_text("Pages show what a check says.\n")
    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "9.9.9", "--date", "2027-01-01"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    text = (tmp_path / "CHANGELOG.md").read_text()
    section = text.partition("## 9.9.9, 2027-01-01")[2]
    assert "### For instructors" in section and "- Pages show what a check says." in section.partition("\n## ")[0]
    named = [path.name for path in (ROOT / "docs" / "changes").glob("*") if path.name != "README.md"]
    assert [name for name in named if not re.fullmatch(r"[\w-]+\.(student|instructor|author|security)\.md", name)] == []


@pytest.mark.skipif(not shutil.which("gpg"), reason="no gpg here")
def test_the_checksums_of_a_release_are_signed_and_a_changed_file_is_refused(tmp_path):
    home = tmp_path / "keys"
    home.mkdir(mode=0o700)
    environment = {**os.environ, "GNUPGHOME": str(home)}
    key = ["gpg", "--batch", "--passphrase", "", "--quick-generate-key", "kit <kit@example.org>", "ed25519", "sign"]
    subprocess.run(key, check=True, capture_output=True, env=environment)
    (tmp_path / "dist").mkdir()
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "dist" / "a.whl").write_text("a wheel")
    listed = subprocess.run(["sha256sum", "a.whl"], cwd=tmp_path / "dist", check=True, capture_output=True)
    (tmp_path / "dist" / "SHA256SUMS").write_bytes(listed.stdout)
    sign = ["make", "--silent", "sign"]
    assert subprocess.run(sign, cwd=tmp_path, env=environment, capture_output=True).returncode == 0
    assert (tmp_path / "dist" / "SHA256SUMS.asc").read_text().startswith("-----BEGIN PGP SIGNATURE")
    (tmp_path / "dist" / "a.whl").write_text("another one")
    assert subprocess.run(sign, cwd=tmp_path, env=environment, capture_output=True).returncode != 0


def test_ci_tries_every_python_and_both_ends_of_what_is_allowed_every_week():
    ci = yaml.safe_load((FORGE / "workflows" / "ci.yml").read_text())
    matrix = ci["jobs"]["versions"]["strategy"]["matrix"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"] and matrix["packages"] == ["newest"]
    assert {"python": "3.11", "packages": "oldest"} in matrix["include"]
    assert ci[True]["schedule"], "YAML reads the key 'on' as true"


def test_the_outline_of_the_paper_has_what_the_journal_asks_for():
    text = (ROOT / "docs" / "paper" / "paper.md").read_text()
    _, head, body = text.split("---\n", 2)
    about = yaml.safe_load(head)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(about)
    assert {one["affiliation"] for one in about["authors"]} == {one["index"] for one in about["affiliations"]}
    sections = re.findall(r"(?m)^# (.+)$", body)
    assert {"Summary", "Statement of need", "Learning objectives", "Content and design", "References"} <= set(sections)
    cited = set(re.findall(r"@(\w+)", body))
    assert cited == set(re.findall(r"(?m)^@\w+\{(\w+),", (ROOT / "docs" / "paper" / about["bibliography"]).read_text()))
    row = r"(?m)^\| `(\w+)` \| (\d+) \| (\d+) \|"
    assert re.findall(row, body) == re.findall(row, (ROOT / "README.md").read_text())
    assert 600 <= len(body.split()) <= 1200
