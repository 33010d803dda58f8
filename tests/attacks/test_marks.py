"""What puts damage right cannot be used: no mark, copy, picture or text overlays a locked cell or earns a point."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from autograder.model.course import Course
from tests.damage import lab
from tests.damage.lab import PNG, Notebook, answered, at, beside, code, released, words

pytestmark = pytest.mark.xdist_group("attacks")

WRONG = "def square(x):\n    return 0\n"
TEST = "test_square"


def wrong(course: Course) -> Notebook:
    notebook = answered(course)
    at(notebook, "square")["source"] = WRONG
    return notebook


def attacks(course: Course) -> Iterator[tuple[str, Notebook]]:
    """Each stands beside a wrong ``square``, which deserves 0 of 2; everything else is right."""
    yield "a copy of the test that passes, above it", beside(wrong(course), TEST, "assert True")
    yield "a copy of the test that passes, below it", beside(wrong(course), TEST, "2", after=True)
    yield "a copy of the test as text", beside(wrong(course), TEST, "def square(x):\n    return x * x", "markdown")
    yield "the test replaced by a number", put(wrong(course), TEST, "2.0")
    yield "the test without assertions", put(wrong(course), TEST, "import builtins\nbuiltins.AssertionError = None")
    yield "names that the test uses, bound in it", put(wrong(course), TEST, "class Ok:\n    pass\nabs = Ok()")
    bare = wrong(course)
    at(bare, TEST)["metadata"] = {}
    bare["cells"].append(code("assert True") | {"metadata": at(answered(course), TEST)["metadata"]})
    yield "the test's mark on another cell", bare
    swapped = wrong(course)
    first, second = at(swapped, TEST)["metadata"]["nbgrader"], at(swapped, "test_cube")["metadata"]["nbgrader"]
    first["grade_id"], second["grade_id"] = second["grade_id"], first["grade_id"]
    yield "the marks of two tests swapped", swapped
    forged = put(wrong(course), TEST, "assert True")
    from nbformat import from_dict

    from autograder.model.cells import checksum_of

    cell = at(forged, TEST)
    cell["metadata"]["nbgrader"]["checksum"] = checksum_of(from_dict(cell))
    yield "a test with a forged checksum", forged
    text = wrong(course)
    text["cells"].append(words("def square(x):\n    return x * x"))
    yield "the right answer as text beside a wrong one", text
    many = wrong(course)
    many["cells"] += [lab.retyped(at(many, TEST), "code") | {"source": f"n = {number}"} for number in range(2000)]
    yield "two thousand copies of the test", many
    mock = wrong(course)
    at(mock, "square")["source"] = "from google.colab import square"
    yield "a name from an inert module", mock


def put(notebook: Notebook, name: str, text: str) -> Notebook:
    at(notebook, name)["source"] = text
    return notebook


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    course = lab.make_lab(tmp_path_factory.mktemp("marks") / "course")
    for number, (_, notebook) in enumerate(attacks(course)):
        lab.hand_in(course, f"m{number}", notebook)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert lab.run(course, "grade", lab.LAB, "--json") == 0
    return {row["student"]: row for row in json.loads(out.getvalue())["students"]}


def test_c3_no_mark_or_copy_earns_a_point_and_none_blocks_a_verdict(rows: dict[str, Any], tmp_path: Any) -> None:
    course = lab.make_lab(tmp_path / "course")
    got = {name: rows[f"m{number}"] for number, (name, _) in enumerate(attacks(course))}
    assert {name: (row["points_so_far"], row["waiting"]) for name, row in got.items()} == {
        name: (3, ["explain"]) for name in got
    }


def test_c2_text_in_the_place_of_code_waits_for_a_person_and_has_no_points(tmp_path: Any) -> None:
    course = lab.make_lab(tmp_path / "course")
    notebook = answered(course)
    at(notebook, "square")["source"] = at(released(course), "square")["source"]
    notebook["cells"].append(words("My code:\n\ndef square(x):\n    return x * x\n"))
    lab.hand_in(course, "ada", notebook)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        lab.run(course, "grade", lab.LAB, "--json")
    (row,) = json.loads(out.getvalue())["students"]
    assert (row["points_so_far"], row["waiting"]) == (3, [TEST, "explain"])


def test_c4_a_picture_on_a_locked_cell_is_not_kept(tmp_path: Any) -> None:
    course = lab.make_lab(tmp_path / "course")
    notebook = answered(course)
    for cell in notebook["cells"]:
        cell["attachments"] = {"a.png": {"image/png": PNG}}
    lab.hand_in(course, "ada", notebook)
    assert lab.run(course, "grade", lab.LAB) == 0
    kept = json.loads((course.autograded("ada", lab.LAB) / f"{lab.NAME}.ipynb").read_text())
    assert not any(cell.get("attachments") for cell in kept["cells"])  # no text shows one, and none is a locked cell's
