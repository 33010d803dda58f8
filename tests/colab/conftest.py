"""What Colab has after the setup cell: the course from its wheel, and the packages that it says it needs."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from autograder.publish.publish import publish
from tests.pipeline.conftest import ROOT

#: What runs a notebook at all, on Colab as anywhere; and what installs the course.
COLAB = ("ipykernel", "nbclient", "pip", "setuptools")


@dataclass(frozen=True)
class Colab:
    """``python``: an interpreter that knows nothing of this folder; ``environment``: its environment variables."""

    python: Path
    environment: dict[str, str]

    def run(self, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python, *words], cwd=folder, env=self.environment, capture_output=True, text=True, timeout=600
        )


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The students' repository, as published: what pip finds when it clones it."""
    source = tmp_path_factory.mktemp("github.com") / "example" / "transformer-course"
    publish(ROOT, source)
    return source


@pytest.fixture(scope="session")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the course, alone in its folder."""
    out = tmp_path_factory.mktemp("wheel")
    source = shutil.copytree(repository, tmp_path_factory.mktemp("build") / "source")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(source)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    return next(out.glob("*.whl"))


def new_environment(home: Path) -> Colab:
    """A virtual environment with what the course says it needs, and neither the course nor this repository."""
    venv.create(home / "venv", with_pip=False, symlinks=True)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(home / "venv")}))
    shared = Path(sysconfig.get_path("purelib"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for package in top_level({*project["dependencies"], *project["optional-dependencies"]["views"], *COLAB}):
        (own / package).symlink_to(shared / package)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    folders = {name: str(home) for name in ("HOME", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR")}
    fixed = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    quick = {"AUTOGRADER_INPUTS": str(home)}  # notebooks train a few steps only, as where they are graded
    return Colab(home / "venv" / "bin" / "python", {**kept, **folders, **fixed, **quick})


def top_level(requirements: set[str]) -> set[str]:
    """The names in site-packages that these requirements stand for, with everything that they require in turn."""
    waiting, met, names = [Requirement(text) for text in requirements], set(), set()
    while waiting:
        wanted = waiting.pop()
        asked = {(wanted.name.lower(), extra) for extra in ("", *wanted.extras)} - met
        met |= asked
        if not asked:
            continue
        found = distribution(wanted.name)
        names |= {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}
        for requirement in map(Requirement, found.requires or ()):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for _, extra in asked):
                waiting.append(requirement)
    return {name for name in names if not name.endswith(".pth")}


@pytest.fixture
def bare(tmp_path: Path) -> Colab:
    """Colab before the setup cell."""
    return new_environment(tmp_path)


@pytest.fixture(scope="session")
def colab(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Colab:
    """Colab after the setup cell: the wheel is installed, and nothing more."""
    home = tmp_path_factory.mktemp("colab")
    made = new_environment(home)
    done = made.run("-m", "pip", "install", "--quiet", "--no-deps", str(wheel), folder=home)
    assert done.returncode == 0, done.stderr
    return made
