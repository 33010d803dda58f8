"""Every published notebook the way Colab runs it: the course from its wheel, no file but the notebook."""

import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.release.leaks.search import Hidden, found_in
from tests.colab.conftest import Colab
from tests.grading import without_markers
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
    accepted = {one["digest"] for one in tomllib.loads((ROOT / "course.toml").read_text("utf-8"))["accepted"]}
    assert [one for one in found_in(wheel.parent, map(Hidden.of, assignments)) if one.digest not in accepted] == []


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


@pytest.fixture(scope="module")
def github(repository: Path) -> Path:
    """The folder in which the students' repository lies, as git clones it."""
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Course"]):
        known = ["-c", "user.name=Course", "-c", "user.email=course@example.org"]
        subprocess.run(["git", *known, *words], cwd=repository, check=True)
    return repository.parents[1]


@needs_git
def test_the_setup_cell_installs_the_course_and_nothing_else(bare: Colab, github: Path, tmp_path: Path) -> None:
    done = run_setup(with_github_at(bare, github), tmp_path, "import course; print(course.__file__)")
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(bare.python.parents[1])
    assert bare.run("-c", "import autograder", folder=tmp_path).returncode == 1


@needs_git
def test_the_setup_cell_shows_what_pip_warns_of_where_it_succeeds(bare: Colab, github: Path, tmp_path: Path) -> None:
    """A package of Colab's own does not get on with a version of the course."""
    about = next(bare.python.parents[1].glob("lib/python*/site-packages")) / "google_colab-1.0.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: google-colab\nVersion: 1.0.0\nRequires-Dist: transformer-course<0\n"
    )
    colab = with_github_at(bare, github)
    del colab.environment["PIP_NO_DEPS"]  # what is required is there
    done = run_setup(colab, tmp_path, "import course")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("The course is installed. pip warned:\n")
    assert "google-colab 1.0.0 requires transformer-course<0, but you have transformer-course" in done.stdout


def test_the_first_view_fetches_its_packages_and_nothing_that_they_require(
    wheel: Path, bare: Colab, tmp_path: Path
) -> None:
    for name in ("bertviz", "mpld3", "XStatic-jQuery"):
        pack_again(name, tmp_path / "index")
    environment = {**bare.environment, "PIP_FIND_LINKS": str(tmp_path / "index")}
    colab = Colab(bare.python, environment)
    assert colab.run("-m", "pip", "install", "--quiet", "--no-deps", str(wheel), folder=tmp_path).returncode == 0
    words = (
        "import torch; from course import figures\n"
        "print(len(figures.head_view([torch.eye(3)[None, None]], ['a', 'b', 'c']).data))"
    )
    assert "pip install --no-deps bertviz" in colab.run("-c", words, folder=tmp_path).stderr  # not on Colab
    done = colab.run("-c", f"{STAND_IN}{words}", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100_000, "the page carries its scripts with it"
    assert colab.run("-c", "import boto3", folder=tmp_path).returncode == 1


def pack_again(name: str, folder: Path) -> None:
    """A wheel of an installed package."""
    found = distribution(name)
    folder.mkdir(exist_ok=True)
    file = f"{name.replace('-', '_')}-{found.version}-py3-none-any.whl"
    with zipfile.ZipFile(folder / file, "w") as packed:
        for path in found.files or ():
            ours = path.name in ("INSTALLER", "REQUESTED", "direct_url.json") or "__pycache__" in path.parts
            if path.parts[0] != ".." and not ours and path.suffix != ".pth":
                packed.write(str(path.locate()), str(path))


@pytest.mark.parametrize("reachable", [True, False])
def test_the_file_to_be_written_is_fetched_or_the_student_is_told(
    colab: Colab, repository: Path, tmp_path: Path, reachable: bool
) -> None:
    """On Colab neither ``models.py`` nor its tests come along with the notebook; here Drive may not be used."""
    opening = OPEN_ADDRESS.format(repository=str(repository)) if reachable else ""
    done = run_cells(colab, tmp_path, f"{STAND_IN}{opening}", "1_attention", "models-file")
    fetched = [tmp_path / "models.py", tmp_path / "tests" / "test_models.py"]
    if reachable:
        assert done.returncode == 0, done.stderr
        for path in fetched:
            assert path.read_bytes() == (ROOT / "release" / "encoder_lab" / path.relative_to(tmp_path)).read_bytes()
        words = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests"]  # Colab has pytest
        collected = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert "test_feed_forward_is_not_linear" in collected.stdout, collected.stdout + collected.stderr
    else:
        assert done.returncode == 1 and not any(path.exists() for path in fetched)
        assert "models.py could not be fetched" in done.stderr and "Traceback" not in done.stderr


def test_in_the_next_session_the_last_notebook_trains_the_students_own_model(
    colab: Colab, repository: Path, tmp_path: Path
) -> None:
    """A Drive that outlives the machine: notebook 1 is opened in one session, notebook 3 in another one."""
    drive = DRIVE.format(drive=str(tmp_path / "drive"))
    opening = OPEN_ADDRESS.format(repository=str(repository))
    for machine in ("first", "second"):
        (tmp_path / machine).mkdir()
    done = run_cells(colab, tmp_path / "first", f"{STAND_IN}{drive}{opening}", "1_attention", "models-file")
    assert done.returncode == 0, done.stderr
    kept = tmp_path / "drive" / "MyDrive" / "transformer-course" / "encoder_lab" / "models.py"
    assert kept.is_file() and not (tmp_path / "first" / "models.py").exists()
    solved = without_markers((ROOT / "source" / "encoder_lab" / "models.py").read_text(encoding="utf-8"))
    kept.write_text(solved, encoding="utf-8")  # what the student wrote
    done = run_cells(
        colab, tmp_path / "second", f"{STAND_IN}{drive}", "3_attention_visualization", "imports", "own-model"
    )
    assert "Your own model, from models.py." in done.stdout, done.stderr


#: ``google.colab``, where the student has no Drive.
STAND_IN = "import io, sys, types, urllib.request; sys.modules['google.colab'] = types.ModuleType('colab')\n"
#: The published repository lies in a folder.
OPEN_ADDRESS = """
def urlopen(address, timeout):
    name = address.removeprefix(f'https://raw.githubusercontent.com/{{REPOSITORY}}/main/')
    return open({repository!r} + '/' + name, 'rb')
urllib.request.urlopen = urlopen
"""
#: A Drive that is a folder.
DRIVE = """
import pathlib; from course import colab
colab.MOUNT = pathlib.Path({drive!r})
sys.modules['google.colab.drive'] = types.SimpleNamespace(
    mount=lambda place: (pathlib.Path(place) / 'MyDrive').mkdir(parents=True, exist_ok=True))
"""


def run_cells(colab: Colab, folder: Path, before: str, name: str, *cells: str) -> subprocess.CompletedProcess[str]:
    """The setup cell and others of a published notebook of the encoder lab, as a program; ``before``: a stand-in"""
    notebook = nbformat.read(ROOT / "release" / "encoder_lab" / f"{name}.ipynb", as_version=4)
    texts = {cell.id: cell.source for cell in notebook.cells}
    words = [texts["setup"], before, "from course import colab", *(texts[cell] for cell in cells)]
    return colab.run("-c", "\n".join(words), folder=folder)


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
