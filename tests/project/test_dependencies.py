"""Dependencies are named once, and are what is imported; environments, pins, Colab and set-up cell agree with them."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from course.attention_html import PACKAGES
from tests.project.test_three_places import imported
from tests.tree import modules

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "source").glob("*/*.ipynb"))
OURS = {"transformer-course", "transformer-course-autograder"}
CONDA_NAMES = {"pytorch-cpu": "torch"}
#: Versions of the packages that Colab has before the setup cell runs.
COLAB = "tests/colab/versions_2026_08_19.txt"
INSTRUCTOR = ["--editable .[views]", "--editable ./autograder[canvas,dask,postgresql,site]"]
#: Declared and imported nowhere, and why.
NOT_IMPORTED = {
    "psycopg": "SQLAlchemy loads it",
    "einops": "students may write in it",
    "jsonschema": "nbformat imports it; from 4.25 it builds a grammar whenever a process reads a notebook",
    "pytest": "students run it",
    "myst-nb": "Sphinx loads it, in a process of its own",
    "pydata-sphinx-theme": "Sphinx loads it",
    "sphinx": "run as a program",
}
#: In the environment for working with notebooks at all, not for the course's code.
ENVIRONMENT_ONLY = {"python", "pip", "jupyterlab"}


def _project(path: str) -> dict:
    return tomllib.loads((ROOT / path).read_text())["project"]


def _requirements(path: str) -> list[Requirement]:
    project = _project(path)
    extras = [entry for extra in project.get("optional-dependencies", {}).values() for entry in extra]
    return [Requirement(entry) for entry in project["dependencies"] + extras]


def _of_developers() -> list[Requirement]:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    return [Requirement(entry) for entry in groups["dev"]]


def _lines(path: str) -> list[str]:
    lines = [line.partition("#")[0].strip() for line in (ROOT / path).read_text().splitlines()]
    return [line for line in lines if line]


def test_the_conda_environment_takes_its_packages_from_the_projects():
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (pip,) = [entry["pip"] for entry in listed if isinstance(entry, dict)]
    assert pip == ["--constraint constraints.txt", *INSTRUCTOR]
    conda = [Requirement(entry) for entry in listed if isinstance(entry, str)]
    named = {CONDA_NAMES.get(one.name, one.name): str(one.specifier) for one in conda}
    assert {name for name in named if name not in ENVIRONMENT_ONLY} == {"torch"}


def _pins(path: str) -> dict[str, str]:
    """Package -> version, of the lines ``name==version``."""
    return dict(line.split("==") for line in _lines(path) if "==" in line)


def _pip_would_change(folder: Path, installed: Mapping[str, str], *words: str) -> str:
    """What pip says of the requirements that these packages do not meet; empty where it would leave them as they are.

    installed: package -> version, of packages that pip finds before those of this environment.
    """
    for name, version in installed.items():
        about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    command = [sys.executable, "-m", "pip", "--isolated", "install", "--dry-run", "--no-index", "--no-deps", "--quiet"]
    found = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([*command, *words], cwd=ROOT, env=found, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_nothing_that_the_course_asks_for_is_newer_than_what_colab_has(tmp_path):
    installed = _pins(COLAB)
    python = installed.pop("python")
    asked = [one for one in _requirements("pyproject.toml") if one.name in installed]
    assert {one.name for one in asked} == {"ipython", "ipywidgets", "numpy", "torch", "transformers"}
    assert _pip_would_change(tmp_path, installed, *map(str, asked)) == ""
    assert python in SpecifierSet(_project("pyproject.toml")["requires-python"])


def test_a_requirement_that_is_newer_than_what_colab_has_is_found(tmp_path):
    assert "ipython>=9" in _pip_would_change(tmp_path, _pins(COLAB), "ipython>=9")


def test_pip_leaves_the_torch_that_conda_installed(tmp_path):
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (torch,) = [one for one in listed if isinstance(one, str) and one.startswith("pytorch-cpu")]
    (required,) = [one for one in _requirements("pyproject.toml") if one.name == "torch"]
    installed = {"torch": torch.removeprefix("pytorch-cpu==")}
    assert _pip_would_change(tmp_path, installed, "--constraint", "constraints.txt", str(required)) == ""


def test_an_instructor_without_conda_gets_the_same():
    words = " ".join(f"--editable '{one.removeprefix('--editable ')}'" for one in INSTRUCTOR)
    assert f" --constraint constraints.txt {words} --group dev\n" in (ROOT / "Makefile").read_text()


def _declared(*paths: str) -> set[str]:
    return {canonicalize_name(one.name) for path in paths for one in _requirements(path)}


def _imported(*folders: str) -> dict[str, set[str]]:
    """Distribution to the files that import it, without the standard library and what lies in this repository."""
    owners = importlib.metadata.packages_distributions()
    found: dict[str, set[str]] = {}
    for path in modules(*folders, root=ROOT):
        for name in {*imported(path)} - set(sys.stdlib_module_names):
            for owner in {canonicalize_name(owner) for owner in owners.get(name, ())} - OURS:
                found.setdefault(owner, set()).add(str(path.relative_to(ROOT)))
    return found


@pytest.mark.parametrize(
    ("path", "folder"), [("autograder/pyproject.toml", "autograder"), ("pyproject.toml", "course")]
)
def test_what_is_imported_is_declared(path, folder):
    views = {canonicalize_name(name) for name in PACKAGES.values()}
    declared = _declared(path) | (views if folder == "course" else set())
    assert {name: files for name, files in _imported(folder).items() if name not in declared} == {}


def test_what_draws_the_views_is_installed_without_what_it_requires_and_the_extra_drags_none_of_it_in():
    pins = {canonicalize_name(name) for name in _pins("constraints.txt")}
    assert {canonicalize_name(name) for name in PACKAGES.values()} <= pins
    views = " ".join(PACKAGES.values())
    assert f"VIEWS     := {views}\n" in (ROOT / "Makefile").read_text()
    for page in (".devcontainer/Containerfile", "environment.yml", "docs/student.md", "docs/students_readme.md.j2"):
        assert f"--no-deps {views}\n" in (ROOT / page).read_text(), page
    named = _declared("pyproject.toml", "autograder/pyproject.toml")
    assert named & {canonicalize_name(name) for name in (*PACKAGES.values(), "boto3", "sentencepiece")} == set()
    assert "boto3" not in (ROOT / "constraints.txt").read_text()


@pytest.mark.parametrize(
    ("path", "folders"),
    [("autograder/pyproject.toml", ["autograder"]), ("pyproject.toml", ["course", "exercises"])],
)
def test_what_is_declared_is_imported(path, folders):
    assert _declared(path) - _imported(*folders).keys() - NOT_IMPORTED.keys() == set()


def test_what_the_tests_import_is_declared():
    declared = _declared("autograder/pyproject.toml", "pyproject.toml")
    declared |= {canonicalize_name(one.name) for one in _of_developers()}
    found = _imported("tests", "tools", "exercises")
    assert {name: files for name, files in found.items() if name not in declared} == {}


def test_an_undeclared_import_is_found(tmp_path, monkeypatch):
    (tmp_path / "autograder").mkdir()
    (tmp_path / "autograder" / "module.py").write_text("def f():\n    import nbclient\n")
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert _imported("autograder") == {"nbclient": {"autograder/module.py"}}


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


def test_every_dependency_is_pinned_within_its_range():
    pinned = {canonicalize_name(name): Version(pin) for name, pin in _pins("constraints.txt").items()}
    projects = [*_requirements("pyproject.toml"), *_requirements("autograder/pyproject.toml")]
    for requirement in [*projects, *_of_developers()]:
        name = canonicalize_name(requirement.name)
        assert name in pinned, f"{name} is not in constraints.txt"
        assert requirement.specifier.contains(pinned[name]), f"{name} is pinned outside its range"


def test_no_version_is_let_in_that_is_known_to_be_bad():
    ranges = {one.name: one.specifier for one in _requirements("autograder/pyproject.toml")}
    assert not ranges["nbgrader"].contains("0.9.5")  # its Validate takes paths that lead out of the course
    assert not ranges["jsonschema"].contains("4.25.0")
    for name in ("nbgrader", "jsonschema"):
        (pin,) = [line for line in _lines("constraints.txt") if line.startswith(f"{name}==")]
        assert ranges[name].contains(pin.partition("==")[2])


def test_what_tools_leave_in_the_folders_is_no_module(tmp_path):
    for name in ("a/m.py", "a/build/lib/a/m.py", "a/dist/m.py", "a/x.egg-info/m.py", "a/.venv-2/m.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert modules("a", root=tmp_path) == [tmp_path / "a" / "m.py"]
    assert all("build" not in path.parts for path in modules("autograder"))


def test_every_package_of_the_grader_is_listed_for_its_wheel():
    listed = tomllib.loads((ROOT / "autograder" / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = [path.parent for path in modules("autograder") if path.name == "__init__.py"]
    assert listed == sorted(".".join(folder.relative_to(ROOT).parts) for folder in folders)


def test_both_distributions_lead_to_the_repository_of_the_course():
    repository = tomllib.loads((ROOT / "course.toml").read_text())["repository"]
    for path in ("pyproject.toml", "autograder/pyproject.toml"):
        assert _project(path)["urls"]["Repository"] == f"https://github.com/{repository}"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["repository-code"] == f"https://github.com/{repository}"
    assert (
        citation["version"] == _project("pyproject.toml")["version"] == _project("autograder/pyproject.toml")["version"]
    )
    assert citation["license"] == _project("pyproject.toml")["license"]


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
