"""Every published notebook the way Colab runs it: the course from its wheel, no file but the notebook."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.model.assignment import Assignment
from autograder.release.leaks.search import leaks
from tests.colab.conftest import Colab
from tests.pipeline.conftest import ROOT

pytestmark = pytest.mark.slow

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="pip needs git for a repository's address")

RUNNER = Path(__file__).with_name("notebook_runner.py")
NOTEBOOKS = sorted(path.relative_to(ROOT / "release").as_posix() for path in ROOT.glob("release/*/*.ipynb"))
#: What an unsolved notebook may say: nothing written yet, a check that misses it, a name that is not there yet.
UNSOLVED = {"NotImplementedError", "CheckFailed", "NameError"}


def test_the_published_wheel_holds_the_course_and_no_answer(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert {name.split("/")[0] for name in names} == {"course"}
    assert "course/check/distilbert/__init__.py" in names
    assert any(name.endswith(".safetensors") for name in names)
    assignments = [Assignment.open(ROOT, folder.name) for folder in sorted((ROOT / "release").iterdir())]
    assert leaks(wheel.parent, assignments) == []


def test_nothing_but_the_course_and_what_it_needs_is_in_sight(colab: Colab, tmp_path: Path) -> None:
    words = (
        "import course, importlib.util as search\n"
        "print(course.__file__, *map(search.find_spec, ('autograder', 'nbgrader', 'tests')))"
    )
    path, *others = colab.run("-c", words, folder=tmp_path).stdout.split()
    assert Path(path).is_relative_to(colab.python.parents[1])
    assert others == ["None"] * 3


@pytest.fixture(scope="module")
def errors(colab: Colab, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    """Notebook -> the errors of its cells; each ran alone in a folder of its own."""
    folder = tmp_path_factory.mktemp("alone")
    for notebook in NOTEBOOKS:
        (folder / notebook).with_suffix("").mkdir(parents=True)
        shutil.copy(repository / "release" / notebook, (folder / notebook).with_suffix(""))
    return run_notebooks(colab, folder, "shell", *(f"{name[:-6]}/{Path(name).name}" for name in NOTEBOOKS))


def run_notebooks(colab: Colab, folder: Path, how: str, *paths: str) -> dict[str, list[list[str]]]:
    done = colab.run(str(RUNNER), how, *paths, folder=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return {f"{Path(path).parent}.ipynb": found for path, found in json.loads(done.stdout).items()}


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_published_notebook_runs_alone(errors: dict[str, list[list[str]]], notebook: str) -> None:
    assert errors[notebook], "the released notebook holds no exercise"
    assert [error for error in errors[notebook] if error[1] not in UNSOLVED] == []


def test_a_published_notebook_runs_the_same_in_jupyters_kernel(
    colab: Colab, repository: Path, errors: dict[str, list[list[str]]], tmp_path: Path
) -> None:
    (tmp_path / "1_attention").mkdir()
    shutil.copy(repository / "release" / "numpy_attention" / "1_attention.ipynb", tmp_path / "1_attention")
    (found,) = run_notebooks(colab, tmp_path, "kernel", "1_attention/1_attention.ipynb").values()
    assert found == errors["numpy_attention/1_attention.ipynb"]


@needs_git
def test_the_setup_cell_shows_what_pip_said_when_it_fails(bare: Colab, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    done = run_setup(with_github_at(bare, nowhere), tmp_path)
    assert done.returncode == 1
    assert "The course could not be installed. pip said:" in done.stderr
    assert f"'{nowhere}/example/transformer-course' does not appear to be a git repository" in done.stderr
    assert "Traceback" not in done.stderr


@needs_git
def test_the_setup_cell_installs_the_course_and_nothing_else(bare: Colab, repository: Path, tmp_path: Path) -> None:
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Course"]):
        known = ["-c", "user.name=Course", "-c", "user.email=course@example.org"]
        subprocess.run(["git", *known, *words], cwd=repository, check=True)
    done = run_setup(with_github_at(bare, repository.parents[1]), tmp_path, "import course; print(course.__file__)")
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(bare.python.parents[1])
    assert bare.run("-c", "import autograder", folder=tmp_path).returncode == 1


def test_the_views_are_drawn_after_the_setup_cell(colab: Colab, tmp_path: Path) -> None:
    words = (
        "import torch; from course import figures\n"
        "print(len(figures.head_view([torch.eye(3)[None, None]], ['a', 'b', 'c']).data))"
    )
    done = colab.run("-c", words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100_000, "the page carries its scripts with it"


@pytest.mark.parametrize("reachable", [True, False])
def test_the_file_to_be_written_is_fetched_or_the_student_is_told(
    colab: Colab, repository: Path, tmp_path: Path, reachable: bool
) -> None:
    """On Colab ``models.py`` does not come along with its notebook."""
    notebook = nbformat.read(repository / "release" / "encoder_lab" / "1_models.ipynb", as_version=4)
    cells = {cell.id: cell.source for cell in notebook.cells}
    stand_in = (
        "import io, sys, types, urllib.request; sys.modules['google.colab'] = types.ModuleType('colab')\n"
        "def urlopen(address, timeout):\n"
        "    name = address.removeprefix(f'https://raw.githubusercontent.com/{REPOSITORY}/main/')\n"
        f"    return open({str(repository)!r} + '/' + name, 'rb')\n"
    )
    open_address = "urllib.request.urlopen = urlopen\n" if reachable else ""
    done = colab.run("-c", f"{cells['setup']}\n{stand_in}{open_address}{cells['models-file']}", folder=tmp_path)
    fetched = tmp_path / "models.py"
    if reachable:
        assert done.returncode == 0, done.stderr
        assert fetched.read_bytes() == (ROOT / "release" / "encoder_lab" / "models.py").read_bytes()
    else:
        assert done.returncode == 1 and not fetched.exists()
        assert "models.py could not be fetched" in done.stderr and "Traceback" not in done.stderr


def with_github_at(colab: Colab, folder: Path) -> Colab:
    """git takes this folder for github.com; pip builds with the setuptools that is there, and fetches nothing."""
    instead = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{folder}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_NO_DEPS": "1",
    }
    return Colab(colab.python, {**colab.environment, **instead})


def run_setup(colab: Colab, folder: Path, then: str = "") -> subprocess.CompletedProcess[str]:
    """The setup cell of a released notebook, as a program."""
    notebook = nbformat.read(ROOT / "release" / NOTEBOOKS[0], as_version=4)
    setup = next(cell.source for cell in notebook.cells if cell.id == "setup")
    return colab.run("-c", f"{setup}\n{then}", folder=folder)
