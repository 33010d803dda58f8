"""A course to collect for, and archives as people send them."""

import io
import shutil
import zipfile

import pytest

from autograder.cli import main
from autograder.model.course import Course
from tests.grading import copy_course


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    return copy_course(tmp_path_factory.mktemp("collect") / "course", SHEET).root


@pytest.fixture
def course(released, tmp_path):
    return Course(shutil.copytree(released, tmp_path / "course"))


SHEET = "distilbert"
ONE, TWO = "1_embedding.ipynb", "2_attention_block.ipynb"
MOODLE = "{name}_{number}_assignsubmission_file_"


def packed(path, files):
    """A zip of name -> bytes, or of (ZipInfo, bytes) pairs."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items() if isinstance(files, dict) else files:
            made.writestr(name, data)
    return path


def inner(files):
    held = io.BytesIO()
    packed(held, files)
    return held.getvalue()


def collect(course, source, *words):
    return main(["--course", str(course.root), "collect", SHEET, str(source), "--yes", *words])


def sent(course, files, *words, names="", times=""):
    """The exit code of collecting a zip of these files; with lists of these texts, where they are given."""
    folder = course.root.parent
    for option, text in (("--names", names), ("--times", times)):
        if text:
            (folder / f"{option[2:]}.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
            words += (option, str(folder / f"{option[2:]}.csv"))
    return collect(course, packed(folder / "sent.zip", files), *words)


def submitted(course):
    """student/file -> bytes"""
    below = course.root / "submitted"
    return {
        f"{path.relative_to(below).parts[0]}/{path.name}": path.read_bytes()
        for path in below.rglob("*")
        if path.is_file()
    }
