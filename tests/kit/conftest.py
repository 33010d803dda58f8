"""The grader alone: its wheel in an empty environment outside the checkout, and a course made and graded there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from autograder.isolation import IsolationUnavailable, available
from tests.grading import ROOT
from tests.kit.filled_in import fill_in, hand_in
from tests.kit.packages import asked_for, put_in

SUBMISSIONS = {
    "right": {
        "moving_average_answer": "return np.convolve(values, np.ones(window), 'valid') / window",
        "median_answer": "return np.median(values)",
    },
    "wrong": {
        "moving_average_answer": "return np.convolve(values, np.ones(window), 'valid')",
        "median_answer": "return np.mean(values)",
    },
    "untouched": {},
}
#: Writes down what is opened in the checkout. Installed in the environment, so that every process there does.
WATCH = """
import os, sys
def watch(event, given):
    if event == "open" and isinstance(given[0], str) and given[0].startswith({root!r} + os.sep):
        with open({log!r}, "a") as log:
            log.write(given[0] + "\\n")
sys.addaudithook(watch)
"""


@dataclass
class Kit:
    """``steps``: what each command said, by its name here."""

    home: Path
    steps: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)

    @property
    def course(self) -> Path:
        return self.home / "course"

    @property
    def opened(self) -> Path:
        return self.home / "opened"

    def run(self, *command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """A program of the environment, with nothing of this process's own environment."""
        binaries = self.home / "venv" / "bin"
        environment = {"HOME": str(self.home), "PATH": f"{binaries}{os.pathsep}{os.defpath}", "LANG": "C.UTF-8"}
        program = [str(binaries / command[0]), *command[1:]]
        return subprocess.run(
            program, cwd=folder or self.course, env=environment, capture_output=True, text=True, timeout=300
        )

    def step(self, name: str, *words: str, folder: Path | None = None, code: int = 0) -> None:
        """One ``autograder`` command, with the exit code that it must have."""
        self.steps[name] = self.run("autograder", *words, folder=folder)
        assert self.steps[name].returncode == code, self.said(name)

    def said(self, name: str) -> str:
        return self.steps[name].stdout + self.steps[name].stderr


def build_wheel(folder: Path, *paths: str) -> Path:
    """A wheel, built in ``folder`` from a copy of these paths of the checkout; the first holds ``pyproject.toml``.

    Weights are left out: they are large, and tests/colab has them.
    """
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "checkpoints")
    for path in paths:
        if (ROOT / path).is_dir():
            shutil.copytree(ROOT / path, folder / "copy" / path, ignore=unwanted)
        else:
            (folder / "copy").mkdir(exist_ok=True)
            shutil.copy(ROOT / path, folder / "copy" / path)
    project = folder / "copy" / ("" if paths[0].endswith(".toml") else paths[0])
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(project)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def grader_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("grader-wheel"), "autograder")


@pytest.fixture(scope="session")
def installed(grader_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Kit:
    """An environment with the grader and what its wheel asks for, and nothing more."""
    kit = Kit(tmp_path_factory.mktemp("kit"))
    venv.create(kit.home / "venv", symlinks=True)
    python = kit.home / "venv" / "bin" / "python"
    for name in asked_for(grader_wheel):
        put_in(kit.home / "venv", name)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run([*pip, "--disable-pip-version-check", str(grader_wheel)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    (packages,) = (kit.home / "venv" / "lib").glob("python*/site-packages")
    (packages / "watch_checkout.py").write_text(WATCH.format(root=str(ROOT), log=str(kit.opened)))
    (packages / "watch_checkout.pth").write_text("import watch_checkout\n")
    return kit


@pytest.fixture(scope="session")
def kit(installed: Kit) -> Kit:
    """A course made, extended, released and graded with the commands of that environment."""
    try:
        available()
        unconfined = []
    except IsolationUnavailable:
        unconfined = ["--no-isolation"]
    made = installed
    made.step("init", "init", "course", folder=made.home)
    made.step("new", "new", "signals/median")
    made.step("release a stub", "release", "signals", code=2)
    fill_in(made.course)
    made.step("references", "references", "signals")
    made.step("release", "release", "signals")
    made.step("publish", "publish", str(made.home / "published"), "signals")
    for student, answers in SUBMISSIONS.items():
        hand_in(made.course, student, answers)
    made.step("grade", "grade", "signals", "--workers", "2", *unconfined)
    made.step("feedback", "feedback", "signals")
    made.step("report", "report", "signals")
    return made
