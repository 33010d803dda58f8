"""Dependencies are named once: pyproject.toml, environment.yml, constraints.txt and the setup cell agree."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "source").glob("*/*.ipynb"))
CONDA_NAMES = {"pytorch": "torch"}
#: In the environment for working with notebooks at all, not for the course's code.
ENVIRONMENT_ONLY = {"python", "pip", "jupyterlab"}


def _project(path: str) -> dict:
    return tomllib.loads((ROOT / path).read_text())["project"]


def _requirements(path: str) -> list[Requirement]:
    project = _project(path)
    extras = [entry for extra in project.get("optional-dependencies", {}).values() for entry in extra]
    return [Requirement(entry) for entry in project["dependencies"] + extras]


def test_the_conda_environment_names_what_the_course_depends_on():
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    parsed = [Requirement(entry) for entry in listed]
    conda = {canonicalize_name(CONDA_NAMES.get(one.name, one.name)): str(one.specifier) for one in parsed}
    course = {
        canonicalize_name(one.name): str(one.specifier)
        for one in map(Requirement, _project("pyproject.toml")["dependencies"])
    }
    assert {name: spec for name, spec in conda.items() if name not in ENVIRONMENT_ONLY} == course


def test_what_students_are_told_to_run_and_what_their_files_import_is_installed():
    told: set[str] = set()
    for path in (ROOT / "release").rglob("*"):
        if path.suffix in (".ipynb", ".py", ".md"):
            told |= set(re.findall(r"python -m (\w+)", path.read_text(encoding="utf-8")))
        if path.suffix == ".py":
            told |= set(re.findall(r"(?m)^\s*(?:import|from) (\w+)", path.read_text(encoding="utf-8")))
    beside = {path.stem for path in (ROOT / "release").rglob("*.py")}
    installed = {requirement.name for requirement in _requirements("pyproject.toml")}
    assert "pytest" in told
    assert told - installed - beside - {"course"} - set(sys.stdlib_module_names) == set()


@pytest.mark.parametrize("path", ["pyproject.toml", "autograder/pyproject.toml"])
def test_every_dependency_is_pinned_within_its_range(path):
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split() if "==" in line)
    pinned = {canonicalize_name(name): Version(version) for name, version in pins.items()}
    for requirement in _requirements(path):
        name = canonicalize_name(requirement.name)
        if name != "transformer-course":
            assert name in pinned, f"{name} is not in constraints.txt"
            assert requirement.specifier.contains(pinned[name]), f"{name} is pinned outside its range"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_notebook_has_the_same_setup_cell(path):
    expected = (ROOT / "source" / "setup_cell.py").read_text().strip()
    cells = [
        cell for cell in nbformat.read(path, 4).cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "setup"
    ]
    assert [cell.source.strip() for cell in cells] == [expected]


def test_the_setup_cell_installs_the_package_that_pyproject_builds():
    setup = (ROOT / "source" / "setup_cell.py").read_text()
    assert re.search(r'find_spec\("course"\)', setup)
    project = _project("pyproject.toml")
    assert f"{project['name']}[views] @ git+https://github.com/{{REPOSITORY}}" in setup
    assert "views" in project["optional-dependencies"]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"][
        "include"
    ] == ["course*"]
