"""The Gradescope bundle: what is in it, what is not, and that it grades, unpacked as Gradescope unpacks it."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder import cli
from autograder.assignment.assignment import Assignment
from autograder.release import bundle
from autograder.release.leaks.search import Hidden, found_in
from tests.ci.conftest import everything_in
from tests.grading import REFERENCES, ROOT, copy_exercises
from tests.model.test_settings import EVERYTHING, configured
from tests.pipeline.conftest import nbgrader
from tools.demo import EXPECTED

BASH = shutil.which("bash")


def pack(out: Path, *words: str, assignment: str = "distilbert", course: Path = ROOT) -> zipfile.ZipFile:
    code = cli.main(["--course", str(course), "bundle", "gradescope", assignment, "--out", str(out), *words])
    assert code == 0
    return zipfile.ZipFile(out)


@pytest.fixture(scope="session")
def packed(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("bundle") / "distilbert.zip"
    pack(out).close()
    return out


@pytest.fixture(scope="session")
def unpacked(packed, tmp_path_factory) -> Path:
    """Laid out as in Gradescope's container, under another root."""
    root = tmp_path_factory.mktemp("autograder")
    with zipfile.ZipFile(packed) as archive:
        for member in archive.infolist():
            path = Path(archive.extract(member, root / "source"))
            path.chmod(member.external_attr >> 16)
    return root


@pytest.fixture
def scripts(optioned, tmp_path) -> Path:
    """A root with the scripts alone, of a bundle with every option."""
    with zipfile.ZipFile(optioned) as archive:
        for name in ("setup.sh", "run_autograder", "settings.sh", "constraints.txt"):
            archive.extract(name, tmp_path / "source")
    return tmp_path


@pytest.fixture(scope="session")
def optioned(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("options") / "distilbert.zip"
    moment, url = "2026-12-01T18:00+01:00", "https://example.org/a b;c"
    pack(out, "--until", moment, "--no-isolation", "--extra-index-url", url).close()
    return out


def test_the_scripts_lie_at_the_root_and_can_be_run(unpacked, packed):
    assert packed.stat().st_size < 100e6
    for script in ("setup.sh", "run_autograder"):
        path = unpacked / "source" / script
        assert path.stat().st_mode & stat.S_IXUSR
        assert path.read_text().startswith("#!/usr/bin/env bash\n")
        assert subprocess.run([BASH, "-n", path]).returncode == 0
    assert not (unpacked / "source" / "pyproject.toml").stat().st_mode & stat.S_IXUSR


def test_everything_of_the_one_assignment_is_there_and_nothing_of_the_others(unpacked):
    files = set(everything_in(unpacked / "source"))
    for folder in ("source", "release"):
        assert {path for path in files if path.startswith(f"{folder}/")} == {
            f"{folder}/distilbert/{path}" for path in everything_in(ROOT / folder / "distilbert")
        }
    exercises = {f"exercises/distilbert/{path}" for path in everything_in(REFERENCES.folder / "distilbert")}
    exercises = {path for path in exercises if not path.endswith((".pyc", "_answers.py"))}
    shared = {f"exercises/_{name}.py" for name in ("attention", "choices")}
    assert {path for path in files if path.startswith("exercises/")} == exercises | shared
    assert {"constraints.txt", "pyproject.toml", "course/checkpoints/mini/model.safetensors"} <= files
    assert not [path for path in files if "encoder_lab" in path and not path.startswith("course/")]


def answers_in(folder: Path, assignment: str) -> list[str]:
    """The solutions and mark schemes of the assignment that a search by content finds."""
    found = map(str, found_in(folder, [Hidden.of(Assignment.open(ROOT, assignment))]))
    return [leak for leak in found if re.search(r": (solution|mark scheme|the marker 'BEGIN SOLUTION')", leak)]


@pytest.mark.slow
def test_no_model_answer_is_in_it(unpacked):
    assert answers_in(unpacked / "source", "distilbert") == []
    assert len(answers_in(ROOT / "source" / "distilbert", "distilbert")) > 4


def test_a_deliverable_is_named_and_its_answer_left_out(tmp_path):
    with pack(tmp_path / "lab.zip", assignment="encoder_lab") as archive:
        assert archive.read("source/encoder_lab/models.py") == (ROOT / "release/encoder_lab/models.py").read_bytes()
        assert b"BEGIN SOLUTION" in (ROOT / "source/encoder_lab/models.py").read_bytes()
        assert b'encoder_lab = ["models.py"]' in archive.read("course.toml")
        archive.extract("source/encoder_lab/2_encoder.ipynb", tmp_path)
    assert answers_in(tmp_path / "source", "encoder_lab") == []


def test_text_is_compressed_and_weights_are_not(packed):
    with zipfile.ZipFile(packed) as archive:
        how = {member.filename: member.compress_type for member in archive.infolist()}
    assert how["course/checkpoints/mini/model.safetensors"] == zipfile.ZIP_STORED
    assert how["course/checkpoints/mini/tokenizer.json"] == zipfile.ZIP_DEFLATED


def test_the_same_bundle_has_the_same_bytes(packed, tmp_path):
    pack(tmp_path / "again.zip").close()
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()


@pytest.mark.slow
def test_a_bundle_for_practice_has_other_references_and_leaves_those_that_are_stored(packed, tmp_path):
    before = everything_in(REFERENCES.folder / "distilbert")
    name = "exercises/distilbert/expected.zip"
    with pack(tmp_path / "practice.zip", "--seed", "1") as archive, zipfile.ZipFile(packed) as exam:
        assert archive.read(name) != exam.read(name)
        assert archive.namelist() == exam.namelist()
    assert everything_in(REFERENCES.folder / "distilbert") == before


def test_options_reach_the_scripts_as_they_were_typed(scripts):
    script = 'source ./settings.sh; printf "%s\\n" "$ASSIGNMENT" "${CI_OPTIONS[@]}" "${PIP_OPTIONS[@]}"'
    said = subprocess.run([BASH, "-c", script], cwd=scripts / "source", capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == [
        "distilbert", "--until", "2026-12-01T18:00:00+01:00", "--no-isolation",
        "--extra-index-url", "https://example.org/a b;c",
    ]  # fmt: skip


def test_a_bundle_that_gradescope_would_refuse_is_not_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bundle, "MAX_BYTES", 1000)
    out = tmp_path / "large.zip"
    assert cli.main(["--course", str(ROOT), "bundle", "gradescope", "distilbert", "--out", str(out)]) == 2
    assert "at most 0 MB can be uploaded" in capsys.readouterr().err
    assert everything_in(tmp_path) == {}


def run_autograder(root: Path, python: str = sys.executable) -> tuple[int, dict]:
    """Exit code and results.json of Gradescope's call, with this environment in place of the one setup.sh makes."""
    variables = {**os.environ, "AUTOGRADER_ROOT": str(root), "AUTOGRADER_PYTHON": python}
    script = root / "source" / "run_autograder"
    done = subprocess.run([BASH, script], cwd=root, env=variables, capture_output=True, text=True)
    return done.returncode, json.loads((root / "results" / "results.json").read_text())


@pytest.mark.slow
def test_unpacked_it_grades_with_its_own_code_and_references(unpacked, sample):
    code = "import autograder.references.store as store, course; print(store.__file__); print(course.__file__)"
    used = subprocess.run([sys.executable, "-c", code], cwd=unpacked / "source", capture_output=True, text=True).stdout
    assert all(line.startswith(str(unpacked)) for line in used.splitlines())
    shutil.copytree(sample.submitted("grace", "distilbert"), unpacked / "submission")
    code, results = run_autograder(unpacked)
    assert (code, results.get("score")) == (0, EXPECTED["grace"]), results.get("output")
    shutil.rmtree(unpacked / "submission")

    (unpacked / "submission").mkdir()  # and without a notebook there is no score
    code, results = run_autograder(unpacked)
    assert code == 2
    assert "no notebook was handed in" in results["output"]
    assert "score" not in results and "tests" not in results


@pytest.mark.parametrize("python", ["false", "true"])
def test_an_autograder_that_writes_nothing_leaves_no_score(scripts, python):
    (scripts / "results").mkdir()
    (scripts / "results" / "results.json").write_text('{"score": 50}')
    code, results = run_autograder(scripts, python)
    assert code != 0
    assert set(results) == {"output"}


def fake(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{BASH}\n{script}\n")
    path.chmod(0o755)


def run_setup(root: Path, commands: Path) -> subprocess.CompletedProcess[str]:
    for name in ("dirname", "env", "bash"):
        (commands / name).symlink_to(shutil.which(name))
    variables = {"PATH": str(commands), "AUTOGRADER_ROOT": str(root)}
    return subprocess.run([BASH, root / "source" / "setup.sh"], env=variables, capture_output=True, text=True)


def test_setup_installs_pinned_packages_into_an_environment_of_its_own(scripts, tmp_path):
    log = tmp_path / "pip.log"
    pip = f'echo "$PWD $*" >> {log}'
    make = f'if [ "$1" = -m ]; then mkdir -p "$3/bin"; printf "#!{BASH}\\n%s\\n" {pip!r} > "$3/bin/pip"; '
    fake(tmp_path / "bin" / "python3.12", make + 'chmod +x "$3/bin/pip"; fi')
    for name in ("mkdir", "chmod"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    done = run_setup(scripts, tmp_path / "bin")
    assert done.returncode == 0, done.stderr
    source = scripts / "source"
    options = "install --quiet --extra-index-url https://example.org/a b;c --constraint constraints.txt"
    assert log.read_text().splitlines() == [f"{source} {options} --editable ./autograder --editable ."]


def test_setup_says_what_to_choose_where_python_is_too_old(scripts, tmp_path):
    fake(tmp_path / "bin" / "python3", "exit 1")
    fake(tmp_path / "bin" / "apt-get", "exit 0")
    done = run_setup(scripts, tmp_path / "bin")
    assert done.returncode == 1
    assert "Python 3.11 or later is needed; choose a newer base image" in done.stderr


def test_a_bundle_of_a_course_with_other_folders_needs_no_configuration(tmp_path):
    """Unpacked, it has the names that hold where there is no ``nbgrader_config.py``."""
    course = configured(tmp_path / "course", EVERYTHING)
    source = course / "term" / "instructor" / "numpy_attention"
    source.mkdir(parents=True)
    (course / "books").mkdir()
    copy_exercises(course, "numpy_attention")
    shutil.copy(ROOT / "source" / "numpy_attention" / "1_attention.ipynb", source)
    (source / "draft.txt").write_text("ignored")
    assert nbgrader(course, "generate_assignment", "numpy_attention").returncode == 0
    with pack(tmp_path / "bundle.zip", assignment="numpy_attention", course=course) as archive:
        names = set(archive.namelist())
    for step in ("source", "release"):
        assert {name for name in names if name.startswith(step)} == {f"{step}/numpy_attention/1_attention.ipynb"}
    assert not [name for name in names if "draft" in name or name.startswith("term")]
