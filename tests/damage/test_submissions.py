"""What students hand in: each case with what it must give. Real runs of ``autograder grade``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.ci.submission import grade_folder
from autograder.model.course import Course
from tests.damage import lab
from tests.damage.lab import NAME, PNG, SQUARE, WORDS, Notebook, answered, at, beside, code, released, words

FILE = f"{NAME}.ipynb"
Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Gives:
    """``points`` of the tests (of 5); ``explain``: whether a person reads that answer. said: in a note.

    looked_at: tests that wait for a person, too.
    """

    points: float = 5
    explain: bool = True
    said: str = ""
    looked_at: tuple[str, ...] = ()


def cases(course: Course) -> Iterator[tuple[str, Notebook | Files, Gives]]:
    yield "good", answered(course), Gives()
    yield "c0_nothing_written", answered(course, ""), Gives(explain=False)
    yield from written_answers(course)
    yield from written_into_code(course)
    yield from switched_off(course)
    yield from stubs(course)
    yield from copies(course)
    yield from files(course)
    yield from stopped(course)


def written_answers(course: Course) -> Iterator[tuple[str, Notebook, Gives]]:
    below = answered(course, "")
    below["cells"].append(words(WORDS))
    yield "c1_in_a_cell_below", below, Gives()
    far = answered(course, "")
    far["cells"].insert(0, words(WORDS))
    yield "c1_in_a_cell_at_the_top", far, Gives()
    gone = answered(course, "")
    gone["cells"].remove(at(gone, "explain"))
    yield "c1_deleted", gone, Gives(said="'explain' was missing")
    bare = answered(course)
    for cell in bare["cells"]:
        cell["metadata"] = {}
    yield "c1_marks_lost", bare, Gives(said="lost its mark")
    question = answered(course, "")
    question["cells"][-2]["source"] += f"\n\n{WORDS}"
    yield "c1_in_the_cell_of_the_question", question, Gives()
    comment = answered(course, "")
    comment["cells"].append(code(f"# {WORDS}"))
    yield "c1_in_a_new_cell_that_is_code", comment, Gives()
    prose = answered(course, "")
    prose["cells"].append(code(WORDS))
    yield "c1_in_a_new_cell_that_is_no_python", prose, Gives()


#: A sentence in a cell that is there for code, which no person reads; and what is said there of the code alone.
SENTENCES = (
    "{code}\n# Minus times minus is plus, so it is never negative.",
    "# Minus times minus is plus,\n# so it is never negative.\n\n{code}",
    '{code}\n"""Minus times minus is plus, so it is never negative."""',
    'answer = "Minus times minus is plus, so it is never negative."\n{code}',
    '{code}\nprint(f"Minus times minus is {{1}} plus, so it is never negative.")',
    "{code}\n# 负负得正，所以一个数的平方永远不会是负数",
    "# A square is the product of two equal numbers: both positive, or both negative, so it never is.\n{code}",
)
EXPLAINED = (
    "# multiply the number by itself, as in the lecture\n{code}",
    'def square(x):\n    """Give back the number multiplied by itself, as in the lecture."""\n    return x * x',
    "# def square(x): return x + x\n# for one in range(3): print(square(one))\n\n{code}",
    'def square(x):\n    if x is None:\n        raise ValueError("a number is expected here")\n    return x * x',
)


def written_into_code(course: Course) -> Iterator[tuple[str, Notebook, Gives]]:
    for number, text in enumerate(SENTENCES):
        notebook = answered(course, "")
        at(notebook, "square")["source"] = text.format(code=SQUARE)
        yield f"c1_in_a_cell_of_code_{number}", notebook, Gives(said="a text in 'square'")
        in_cell = answered(course, "")
        in_cell["cells"].insert(0, code(text.format(code="unused = 1")))
        yield f"c1_in_a_new_cell_of_code_{number}", in_cell, Gives()
    broken = answered(course, "")
    at(broken, "square")["source"] = f"{SQUARE}\nMinus times minus is plus, so it is never negative."
    yield "c1_in_a_cell_of_code_as_no_python", broken, Gives(points=3, said="a text in 'square'")
    for number, text in enumerate(EXPLAINED):
        notebook = answered(course, "")
        at(notebook, "square")["source"] = text.format(code=SQUARE)
        yield f"c0_nothing_written_but_the_code_explained_{number}", notebook, Gives(explain=False)
    written = answered(course)
    at(written, "square")["source"] += "\n# Minus times minus is plus, so it is never negative."
    yield "c0_written_in_both_places", written, Gives()


def switched_off(course: Course) -> Iterator[tuple[str, Notebook, Gives]]:
    """Code that is not executed is judged by a person; code that is executed and wrong is judged."""
    off = (
        "# def square(x):\n#     return x * x",
        f'"""\n{SQUARE}"""',
        f"%%writefile mine.py\n{SQUARE}",
        f"%%html\n{SQUARE}",
    )
    for number, text in enumerate(off):
        notebook = answered(course)
        at(notebook, "square")["source"] = text
        yield f"c2_switched_off_{number}", notebook, Gives(points=3, looked_at=("test_square",))
        beside_it = answered(course)
        beside_it["cells"].remove(at(beside_it, "square"))
        beside_it["cells"].insert(1, code(text))
        yield f"c2_switched_off_in_a_new_cell_{number}", beside_it, Gives(points=3, looked_at=("test_square",))
    wrong = answered(course)
    at(wrong, "square")["source"] = "# def square(x):\n#     return x * x\ndef square(x):\n    return x + x"
    yield "c2_an_old_draft_above_a_wrong_answer", wrong, Gives(points=3)
    timed = answered(course)
    at(timed, "square")["source"] = f"%%time\n{SQUARE}"
    yield "c2_a_magic_that_executes", timed, Gives()


def stubs(course: Course) -> Iterator[tuple[str, Notebook, Gives]]:
    for number, text in enumerate((
        "def cube(x):\n    return x * x * x",
        "import functools\n@functools.cache\ndef cube(x):\n    return x ** 3",
        "if True:\n    def cube(x):\n        return x ** 3",
        "cube, unused = (lambda x: x ** 3), 1",
        "unused = cube = lambda x: x ** 3",
        "for cube in [lambda x: x ** 3]:\n    pass",
        "import contextlib\nwith contextlib.nullcontext(lambda x: x ** 3) as cube:\n    pass",
        "(cube := lambda x: x ** 3)",
        "import operator\nfrom functools import partial as part\ncube = part(pow, exp=3)",
        "def _bind():\n    global cube\n    cube = lambda x: x ** 3\n_bind()",
        "try:\n    import nothing as cube\nexcept ImportError:\n    def cube(x):\n        return x ** 3",
    )):  # fmt: skip
        merged = answered(course)
        at(merged, "square")["source"] += f"\n\n{text}"
        merged["cells"].remove(at(merged, "cube"))
        yield f"c2_merged_{number}", merged, Gives(said="another cell has the answer")
    above = answered(course)
    at(above, "square")["source"] += f"\n\n{lab.CUBE}"
    at(above, "cube")["source"] = at(released(course), "cube")["source"]
    yield "c2_merged_and_the_stub_left", above, Gives(said="as it was handed out")
    below = answered(course)
    at(below, "cube")["source"] = f"{SQUARE}\n\n{lab.CUBE}"
    below["cells"].remove(at(below, "square"))
    yield "c2_merged_into_the_next_answer", below, Gives()
    locked = answered(course)
    at(locked, "test_cube")["source"] = f"{lab.CUBE}\n\n{at(locked, 'test_cube')['source']}"
    locked["cells"].remove(at(locked, "cube"))
    yield "c2_merged_into_the_test", locked, Gives(said="had been changed")


def copies(course: Course) -> Iterator[tuple[str, Notebook, Gives]]:
    wrong = "def square(x):\n    # first try\n    return x + x\n"
    yield "c3_old_draft_as_text", beside(answered(course), "square", wrong, "markdown", after=True), Gives()
    yield "c3_old_draft_as_raw_cell", beside(answered(course), "square", wrong, "raw", after=True), Gives()
    yield "c3_half_finished_above", beside(answered(course), "square", "def square(x):\n    return x *\n"), Gives()
    yield (
        "c3_half_finished_below",
        beside(answered(course), "square", "def square(x):\n    return x *", after=True),
        Gives(),
    )
    yield "c3_old_draft_above", beside(answered(course), "square", wrong), Gives()
    yield "c3_helper_in_a_copy", beside(answered(course), "square", "helper = 1"), Gives()
    yield "c3_notes_in_a_copy", beside(answered(course), "square", "My plan: multiply x by itself", "markdown"), Gives()
    late = answered(course)
    late["cells"].append(lab.retyped(at(late, "square"), "code") | {"source": wrong})
    yield "c3_old_draft_at_the_end", late, Gives()
    alone = answered(course)
    index = alone["cells"].index(at(alone, "square"))
    alone["cells"][index] = lab.retyped(alone["cells"][index], "markdown")
    yield "c3_the_answer_itself_as_text", alone, Gives()
    two = answered(course, "First half.")
    yield "c3_words_in_two_copies", beside(two, "explain", "Second half.", "markdown", after=True), Gives()
    wrong_last = answered(course)
    yield "c3_wrong_draft_below", beside(wrong_last, "square", wrong, after=True), Gives(points=3)


def files(course: Course) -> Iterator[tuple[str, Files, Gives]]:
    text = json.dumps(answered(course, "Früher: minus mal minus €"), ensure_ascii=False, indent=1)
    solved, untouched = text.encode(), json.dumps(released(course)).encode()
    yield "c5_windows_1252", {FILE: text.encode("cp1252")}, Gives(said="Windows-1252")
    yield "c5_utf_16", {FILE: text.encode("utf-16")}, Gives(said="UTF-16")
    yield "c5_utf_16_without_mark", {FILE: text.encode("utf-16-le")}, Gives(said="UTF-16")
    yield "c5_byte_order_mark", {FILE: b"\xef\xbb\xbf" + solved}, Gives()
    yield "c5_trailing_brace", {FILE: solved + b"\n}\n"}, Gives(said="after the end")
    yield "c5_trailing_zeros", {FILE: solved + b"\x00" * 100}, Gives()
    names = (f"{FILE}.txt", f"{FILE}.json", "p1.json", f"{FILE} ", "p1", "P1.IPYNB", "p1 (1).ipynb")
    for number, name in enumerate(names):
        yield f"c6_name_{number}", {name: solved}, Gives(said=f"was taken for {FILE}")
    yield "c7_copy_solved", {FILE: untouched, "Copy of p1.ipynb": solved}, Gives(said="taken in its place")
    yield "c7_copy_solved_original_broken", {FILE: b"", "p1 (1).ipynb": solved}, Gives(said="cannot be read")
    yield "c7_original_solved", {FILE: solved, "Copy of p1.ipynb": untouched}, Gives(said="left out")


def stopped(course: Course) -> Iterator[tuple[str, Notebook, Gives]]:
    for number, line in enumerate((
        "from google.colab import files", "from google.colab import drive\ndrive.mount('/content/drive')",
        "import google.colab", "from google import colab", "from google.colab.patches import cv2_imshow",
        "from google.colab import userdata, output\nkey = userdata.get('KEY')", 
        "from google.colab import (\n    files,\n)",
        "%matplotlib widget", "%matplotlib notebook",
    )):  # fmt: skip
        notebook = answered(course)
        at(notebook, "square")["source"] = f"{line}\n{SQUARE}"
        yield f"c8_line_{number}", notebook, Gives()
    where = answered(course)
    at(where, "square")["source"] = (
        "try:\n    import google.colab\n    here = 'colab'\nexcept ImportError:\n    here = 'own'\n"
        f"{SQUARE}assert here == 'own'\n"
    )
    yield "c8_a_notebook_that_asks_where_it_runs", where, Gives()


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    made = lab.make_lab(tmp_path_factory.mktemp("submissions") / "course")
    for student, sent, _ in cases(made):
        lab.hand_in(made, student, sent)
    for student, data in UNREADABLE.items():
        lab.hand_in(made, student, {FILE: data})
    return made


@pytest.fixture(scope="module")
def graded(course: Course) -> dict[str, dict[str, Any]]:
    """The document of ``autograder grade --json``, by student."""
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert lab.run(course, "grade", lab.LAB, "--json") == 1  # some could not be graded
    return {row["student"]: row for row in json.loads(out.getvalue())["students"]}


UNREADABLE = {
    "conflict": b'{\n<<<<<<< HEAD\n "cells": [\n=======\n "cells": [\n>>>>>>> other\n]}',
    "lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    "cut": b'{"cells": [{"cell_type": "code", "source": "x',
    "page": b"<!DOCTYPE html><html><body>Please sign in</body></html>",
    "zip": b"PK\x03\x04 and so on",
    "empty": b"",
    "other": b"[]",
    "two": b'{"cells": []}\n{"cells": []}',
}


def expect(course: Course, graded: dict[str, dict[str, Any]], *numbers: str) -> None:
    """Every case whose name begins so gives what stands beside it."""
    wrong = {}
    for student, _, gives in cases(course):
        if not student.startswith(numbers):
            continue
        row = graded[student]
        waiting = row["waiting"]
        looked_at = tuple(name for name in waiting if name != "explain")
        found = Gives(row["points_so_far"], "explain" in waiting, gives.said, looked_at)
        if found != gives or gives.said not in " ".join(row["notes"]):
            wrong[student] = found, row["notes"], row["failed"]
    assert not wrong


Graded = dict[str, dict[str, Any]]


def test_c1_words_outside_their_cell_wait_for_a_person_and_a_question_left_open_does_not(
    course: Course, graded: Graded
) -> None:
    expect(course, graded, "good", "c0", "c1")


def test_c2_no_stub_is_laid_over_an_answer_and_what_is_switched_off_waits(course: Course, graded: Graded) -> None:
    expect(course, graded, "c2")


def test_c3_a_copy_that_was_switched_off_or_is_half_finished_costs_nothing(course: Course, graded: Graded) -> None:
    expect(course, graded, "c3")


def test_c5_a_file_that_one_step_makes_readable_is_read(course: Course, graded: Graded) -> None:
    expect(course, graded, "c5")


def test_c6_a_notebook_under_another_name_is_taken_with_a_note(course: Course, graded: Graded) -> None:
    expect(course, graded, "c6")


def test_c7_a_solved_copy_beside_an_untouched_original_is_taken(course: Course, graded: Graded) -> None:
    expect(course, graded, "c7")


def test_c8_lines_of_colab_and_of_widgets_stop_no_cell(course: Course, graded: Graded) -> None:
    expect(course, graded, "c8")


def test_every_case_is_held_by_one_of_these(course: Course) -> None:
    groups = ("good", "c0", "c1", "c2", "c3", "c5", "c6", "c7", "c8")
    assert [student for student, _, _ in cases(course) if not student.startswith(groups)] == []


def test_c1_a_written_answer_in_a_new_cell_waits_for_a_person_on_every_list(
    course: Course, graded: dict[str, dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert graded["c1_in_a_cell_below"]["points"] is None
    with Gradebook(course.db_url) as book:
        notebook = book.find_submission_notebook(NAME, lab.LAB, "c1_in_a_cell_below")
        grade = next(grade for grade in notebook.grades if grade.name == "explain")
        assert (grade.auto_score, grade.needs_manual_grade) == (None, True)
        assert [comment.auto_comment for comment in notebook.comments if comment.name == "explain"] == [None]
    capsys.readouterr()
    assert lab.run(course, "status", "--json") == 0
    (status,) = json.loads(capsys.readouterr().out)["assignments"]
    waiting = sum(len(row["waiting"]) for row in graded.values())
    assert status["to_read"] == waiting
    shown = (course.autograded("c1_in_a_cell_below", lab.LAB) / FILE).read_text()
    assert WORDS in shown


@pytest.mark.parametrize("student", UNREADABLE)
def test_c5_a_file_that_is_no_notebook_has_no_0(graded: dict[str, dict[str, Any]], student: str) -> None:
    row = graded[student]
    assert (row["points"], row["points_so_far"], row["could_not_be_graded"]) == (None, None, [NAME])
    assert row["notes"][0].startswith(f"{FILE} could not be read: the file ") and row["failure"] == ""
    assert row["waiting"] == ["test_square", "test_cube", "explain"]


def test_c5_the_gradebook_and_ci_have_no_0_either(course: Course, graded: object) -> None:
    with Gradebook(course.db_url) as book:
        grades = book.find_submission_notebook(NAME, lab.LAB, "conflict").grades
        assert {grade.auto_score for grade in grades} == {None} and all(grade.needs_manual_grade for grade in grades)
    outcome = grade_folder(course, lab.LAB, course.submitted("conflict", lab.LAB), "conflict", "auto")
    assert "conflict markers" in outcome.failure


def test_c5_points_that_a_person_gives_for_such_a_file_count_until_another_one_comes(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = Course(shutil.copytree(course.root, tmp_path / "own"))
    assert lab.run(own, "grade", lab.LAB, "--student", "cut") == 1
    with Gradebook(own.db_url) as book:
        for grade in book.find_submission_notebook(NAME, lab.LAB, "cut").grades:
            grade.manual_score, grade.needs_manual_grade = 1, False
        book.db.commit()
    assert lab.run(own, "grade", lab.LAB, "--student", "cut", "--force") == 0
    lab.hand_in(own, "cut", {FILE: b'{"cells": [{"cell_type": "code'})
    capsys.readouterr()
    assert lab.run(own, "grade", lab.LAB, "--student", "cut", "--json") == 1
    assert json.loads(capsys.readouterr().out)["students"][0]["points"] is None


def test_c6_a_folder_without_a_notebook_says_what_is_there(course: Course, tmp_path: Path) -> None:
    folder = tmp_path / "essay" / lab.LAB
    folder.mkdir(parents=True)
    (folder / "essay.docx").write_bytes(b"PK")
    from autograder.assignment.assignment import Assignment
    from autograder.assignment.submission import read_submission
    from autograder.errors import NothingToGrade

    with pytest.raises(NothingToGrade, match=r"expected p1\.ipynb; found essay\.docx"):
        read_submission(folder, "essay", Assignment.open(course, lab.LAB))


def test_c8_a_missing_name_says_where_the_cell_that_defines_it_stopped(course: Course, tmp_path: Path) -> None:
    own = lab.make_lab(tmp_path / "own")
    notebook = answered(own)
    at(notebook, "square")["source"] = f"import nothing_like_it\n{SQUARE}"
    at(notebook, "cube")["source"] = "def cube(x):\n    return x *\n"
    lab.hand_in(own, "ada", notebook)
    assert lab.run(own, "grade", lab.LAB) == 0
    told = json.loads((own.autograded("ada", lab.LAB) / "verdicts.json").read_text())
    square, cube = (cell["checks"][0]["message"] for cell in told["notebooks"][0]["cells"][:2])
    assert "'square' is missing" in square and "'import nothing_like_it'" in square and "ModuleNotFoundError" in square
    assert "'cube' is missing" in cube and "SyntaxError" in cube


def test_h2_a_test_that_was_corrected_after_the_hand_in_is_no_tampering(tmp_path: Path) -> None:
    import nbformat

    from autograder.release.generate import generate

    own = lab.make_lab(tmp_path / "own")
    lab.hand_in(own, "ada", answered(own))
    tampered = answered(own)
    at(tampered, "test_square")["source"] = "assert True"
    lab.hand_in(own, "bob", tampered)
    corrected = lab.source("assert square(3) == 9\nassert square(-4) == 16\nassert square(0) == 0")
    nbformat.write(corrected, own.source(lab.LAB) / FILE)
    generate(own, lab.LAB)
    assert lab.run(own, "grade", lab.LAB) == 0
    notes = {
        student: " ".join(
            json.loads((own.autograded(student, lab.LAB) / "verdicts.json").read_text())["notebooks"][0]["notes"]
        )
        for student in ("ada", "bob")
    }
    assert "of an earlier release" in notes["ada"] and "changed" not in notes["ada"]
    assert "had been changed" in notes["bob"]


def test_c4_a_pasted_picture_is_shown_to_grader_and_student(course: Course, tmp_path: Path) -> None:
    own = lab.make_lab(tmp_path / "own")
    photo = answered(
        own, 'On paper:\n\n![my sketch.png](attachment:my%20sketch.png)\n\n<img src="attachment:b.png" width="9">'
    )
    pictures = {"my sketch.png": {"image/png": PNG}, "b.png": {"image/png": PNG}, "x.html": {"text/html": "<b>"}}
    at(photo, "explain")["attachments"] = pictures
    lab.hand_in(own, "ada", photo)
    assert lab.run(own, "grade", lab.LAB) == 0
    kept = json.loads((own.autograded("ada", lab.LAB) / FILE).read_text())
    answer = next(cell for cell in kept["cells"] if lab.name_of(cell) == "explain")
    assert [*answer["attachments"].values()] == [{"image/png": PNG}] * 2
    assert lab.run(own, "feedback", lab.LAB) == 0
    page = (own.root / "feedback" / "ada" / lab.LAB / f"{NAME}.html").read_text()
    assert page.count(f"data:image/png;base64,{PNG}") == 2 and "attachment:" not in page
