"""The parts of a grade, computed on a copy of the package in which rules and modules are changed."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autograder.exercise.pack import pack_names, read_pack
from autograder.pipeline.fingerprint import described
from autograder.references.write import archive_of
from tests.grading import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fingerprint")]

PARTS = """
import json, sys
from pathlib import Path
from autograder.assignment.assignment import Assignment
from autograder.model.course import Course
from autograder.pipeline.fingerprint import content_parts, imported_version, machine_parts, rule_parts
course = Course(Path(sys.argv[1]))
opened = Assignment.open(course, "numpy_attention")
version = imported_version(course)
print(json.dumps({**machine_parts(course), **content_parts(opened), **rule_parts(opened), "version": version}))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """The grader, the course library and an assignment of the course, to be changed."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("autograder", "course", "exercises", "source/numpy_attention", "release/numpy_attention"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "checkpoints"))
    for name in ("course.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, folder)
    return folder


def parts(package: Path) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PARTS, str(package)], capture_output=True, text=True, env=environment, cwd=package
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def original(package) -> dict[str, str]:
    return parts(package)


Change = tuple[str, str, str]  # file, old text, new text

SOFTMAX = "exercises/numpy_attention/softmax.py"


def in_code(file: str) -> Change:
    return file, "import", "import "


NEUTRAL = [
    (SOFTMAX, "def _case(", "# a comment\ndef _case("), in_code("autograder/exports/formats.py"),
    in_code("autograder/report/page.py"),
]  # fmt: skip


def changed(package: Path, original: dict[str, str], changes: list[Change]) -> set[str]:
    """The names of the parts that are others when each ``old`` is replaced in its file."""
    texts = {file: (package / file).read_text() for file, _, _ in changes}
    for file, old, new in changes:
        text = (package / file).read_text()
        assert old in text
        (package / file).write_text(text.replace(old, new, 1))
    try:
        now = parts(package)
    finally:
        for file, text in texts.items():
            (package / file).write_text(text)
    return {name for name in {**original, **now} if original.get(name) != now.get(name)} - {"version"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([(SOFTMAX, "share=0.5)", "share=0.75)")], {"rule softmax"}),
        ([(SOFTMAX, "Leave the last logarithm out.", "?"), in_code("autograder/exercise/compare.py")],
         {"rule softmax", "grader"}),
        ([in_code("course/check/base.py")], {"course library"}),
        ([in_code("autograder/pipeline/judge.py")], {"judge"}),
        ([in_code("autograder/pipeline/judge_tests.py")], {"judge"}),
        ([in_code("autograder/kernel/scratch.py")], {"grader"}),
        (NEUTRAL, set()),
    ],
    ids=["rule", "hint and grader", "course library", "judge", "judge of tests", "kernels", "what no grade depends on"],
)  # fmt: skip
def test_a_change_changes_the_parts_that_depend_on_it_and_no_other(package, original, changes, expected):
    assert changed(package, original, changes) == expected


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("mistakes", [], set()),
        ("shows", ["other words"], set()),
        ("atol", 0.5, {"course library"}),
        ("cases", [], {"course library"}),
    ],
)
def test_of_public_cases_what_decides_a_check_can_change_a_run_and_words_on_mistakes_cannot(
    package, original, key, value, expected
):
    """A part that passes its visible check is taken into later notebooks."""
    packs = package / "course/check/_packs/numpy_attention.zip"
    before = packs.read_bytes()
    members = {f"{name}.npz": read_pack(packs, name) for name in pack_names(packs)}
    with np.load(io.BytesIO(members["softmax.npz"])) as file:
        arrays = dict(file)
    about = json.loads(arrays["about"].tobytes())
    assert about[key] != value
    arrays["about"] = np.frombuffer(json.dumps(about | {key: value}).encode(), dtype=np.uint8)
    changed = io.BytesIO()
    np.savez(changed, **arrays)
    try:
        packs.write_bytes(archive_of(members | {"softmax.npz": changed.getvalue()}))
        now = parts(package)
    finally:
        packs.write_bytes(before)
    assert {name for name in original if original[name] != now[name]} - {"version"} == expected


def test_a_function_that_refers_to_itself_has_an_end():
    def rule(depth: int) -> int:
        return rule(depth - 1) if depth else 0

    assert described(rule) == described(rule)
