"""The image: its files exist, its steps run in a clean folder, and what is made there works. No container is needed."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.grading import ROOT

#: Steps that change the machine itself; a container's own test, in the workflow, runs them.
OF_THE_MACHINE = ("apt-get ", "useradd ")


@dataclass(frozen=True)
class Instruction:
    name: str
    text: str


def instructions(text: str) -> list[Instruction]:
    """A Containerfile's, with continued lines put together and without comments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Instruction(*line.split(None, 1)) for line in joined.splitlines() if line.strip()]


FOUND = instructions((ROOT / ".devcontainer" / "Containerfile").read_text(encoding="utf-8"))


def copied() -> dict[str, str]:
    """Source in the repository -> target in the image."""
    pairs = {}
    for one in FOUND:
        if one.name == "COPY":
            *sources, target = shlex.split(one.text)
            pairs |= dict.fromkeys(sources, target)
    return pairs


def test_what_is_copied_exists_and_holds_no_answer():
    assert set(copied()) >= {"autograder", "course", "constraints.txt"}
    assert all((ROOT / source).exists() for source in copied())
    assert not {"source", "exercises", ".", "release"} & set(copied())


def test_students_code_does_not_run_as_root():
    users = [one.text for one in FOUND if one.name == "USER"]
    assert users[-1] == "jovyan"
    assert any(one.name == "RUN" and "useradd" in one.text and "jovyan" in one.text for one in FOUND)


def test_nothing_is_fetched_by_a_moving_name_or_piped_into_a_shell():
    (base,) = [one.text for one in FOUND if one.name == "FROM"]
    assert re.fullmatch(r"docker\.io/library/python:3\.\d+-slim-\w+", base)
    steps = " ".join(one.text for one in FOUND if one.name == "RUN")
    assert "curl" not in steps and "wget" not in steps and "| sh" not in steps


def test_the_devcontainer_builds_this_image_and_asks_the_self_test():
    said = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert (ROOT / ".devcontainer" / said["build"]["dockerfile"]).resolve() == ROOT / ".devcontainer" / "Containerfile"
    assert (said["postCreateCommand"], said["remoteUser"]) == ("autograder doctor", "jovyan")
    assert "privileged" not in json.dumps(said)


def test_the_workflow_builds_it_and_runs_the_self_test_inside():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    steps = "\n".join(step.get("run", "") for step in jobs["image"]["steps"])
    assert "docker build --file .devcontainer/Containerfile" in steps
    assert "course autograder doctor" in steps


def test_the_guide_names_what_the_default_profile_takes():
    page = (ROOT / "docs" / "container.md").read_text(encoding="utf-8")
    assert all(word in page for word in ("Landlock", "seccomp=unconfined", "what is lost", "Docker", "Podman"))


@pytest.mark.slow
def test_the_steps_run_in_a_clean_folder_and_the_grader_starts_there(tmp_path):
    """Packages that are installed for these tests are found, so that nothing is downloaded; the folders are new."""
    work, environment = tmp_path / "course", tmp_path / "venv"
    work.mkdir()
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "checkpoints")
    for source, target in copied().items():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, work / target, ignore=unwanted)
        else:
            shutil.copy(ROOT / source, work / target)
    env = {"HOME": str(tmp_path), "PATH": f"{environment / 'bin'}{os.pathsep}{os.defpath}", "LANG": "C.UTF-8"}
    ran = []
    for one in FOUND:
        if one.name != "RUN" or one.text.startswith(OF_THE_MACHINE):
            continue
        text = one.text.replace("/opt/course", str(work)).replace("/opt/venv", str(environment))
        if text.startswith("python -m venv"):
            venv.create(environment, with_pip=True)
            pip = [str(environment / "bin" / "pip"), "uninstall", "--quiet", "--yes", "setuptools"]
            subprocess.run(pip, check=True, capture_output=True)  # pip's own is older than what builds our packages
            site = next(environment.glob("lib/python*/site-packages"))
            (site / "tests.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
            continue
        text = text.replace("pip install", "pip install --no-build-isolation --no-index --no-deps")
        done = subprocess.run(["sh", "-c", text], cwd=work, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{text}\n{done.stderr[-1500:]}"
        ran.append(text)
    assert len(ran) >= 3
    where = [str(environment / "bin" / "python"), "-c", "import autograder; print(autograder.__file__)"]
    found = subprocess.run(where, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout
    assert Path(found.strip()).is_relative_to(work)
