"""The two wheels: everything that the packages need, and nothing else."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.grading import ROOT

#: Tracked beside the grader's modules, and not for its wheel.
NOT_PACKAGED = {"autograder/pyproject.toml", "autograder/LICENSE"}
pytestmark = pytest.mark.slow


def tracked(*folders: str) -> set[str]:
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(listed.stdout.splitlines())


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The files in each wheel, built from a copy of what git tracks."""
    checkout, out = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("wheels")
    for name in tracked("autograder", "course", "pyproject.toml", "README.md", "LICENSE"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", out]
    subprocess.run([*command, checkout, checkout / "autograder"], check=True)
    found = {}
    for path in Path(out).glob("*.whl"):
        with zipfile.ZipFile(path) as wheel:
            found[path.name.partition("-")[0]] = {name for name in wheel.namelist() if ".dist-info/" not in name}
            assert [name for name in wheel.namelist() if name.endswith("licenses/LICENSE")], path.name
    return found


def test_the_graders_wheel_is_its_folder(wheels):
    assert wheels["transformer_course_autograder"] == tracked("autograder") - NOT_PACKAGED


def test_the_courses_wheel_is_what_students_import(wheels):
    rules = {name.replace("autograder/exercise", "course/check/_rules") for name in tracked("autograder/exercise")}
    assert wheels["transformer_course"] == tracked("course") | rules


def test_neither_holds_an_oracle_a_sample_answer_or_a_test(wheels):
    packaged = map(Path, wheels["transformer_course"] | wheels["transformer_course_autograder"])
    own = [path for path in packaged if "templates" not in path.parts]  # 'autograder init' writes an example
    assert len(own) > 100
    assert [path for path in own if path.name in ("expected.zip", "manifest.json")] == []
    assert [path for path in own if {"tests", "exercises", "solutions", "tools"} & set(path.parts[:-1])] == []
