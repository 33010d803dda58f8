"""What students hand in: each case with what it must give. Real runs of ``autograder grade``."""

import contextlib
import io
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.ci.outcome import grade_folder
from autograder.errors import NothingToGrade
from autograder.model.course import Course
from autograder.release.generate import generate
from tests import damaged_lab as lab
from tests.damaged_lab import (
    CUBE,
    NAME,
    PNG,
    SQUARE,
    WORDS,
    Notebook,
    answered,
    at,
    beside,
    changed,
    code,
    released,
    words,
)

pytestmark = pytest.mark.slow
FILE = f"{NAME}.ipynb"
Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Gives:
    """``points`` of the tests (of 5); ``explain``: whether a person reads that answer. said: in a note.

    looked_at: tests that wait for a person, too.
    """

    points: float | None = 5
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
    yield "c1_in_a_cell_below", changed(answered(course, ""), last=words(WORDS)), Gives()
    yield "c1_in_a_cell_at_the_top", changed(answered(course, ""), first=words(WORDS)), Gives()
    yield "c1_deleted", changed(answered(course, ""), without="explain"), Gives(said="'explain' was missing")
    bare = answered(course)
    for cell in bare["cells"]:
        cell["metadata"] = {}
    yield "c1_marks_lost", bare, Gives(said="lost its mark")
    question = answered(course, "")
    question["cells"][-2]["source"] += f"\n\n{WORDS}"
    yield "c1_in_the_cell_of_the_question", question, Gives()
    yield "c1_in_a_new_cell_that_is_code", changed(answered(course, ""), last=code(f"# {WORDS}")), Gives()
    yield "c1_in_a_new_cell_that_is_no_python", changed(answered(course, ""), last=code(WORDS)), Gives()


#: A sentence in a cell that is there for code, which no person reads; and what is said there of the code alone.
NEVER = "Minus times minus is plus, so it is never negative."
SENTENCES = (
    f"{{code}}\n# {NEVER}",
    "# Minus times minus is plus,\n# so it is never negative.\n\n{code}",
    f'{{code}}\n"""{NEVER}"""',
    f'answer = "{NEVER}"\n{{code}}',
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
    def square(text: str, explain: str = "") -> Notebook:
        return changed(answered(course, explain), square=text.format(code=SQUARE))

    for number, text in enumerate(SENTENCES):
        yield f"c1_in_a_cell_of_code_{number}", square(text), Gives(said="a text in 'square'")
        in_cell = changed(answered(course, ""), first=code(text.format(code="unused = 1")))
        yield f"c1_in_a_new_cell_of_code_{number}", in_cell, Gives()
    broken = square(f"{{code}}\n{NEVER}")
    yield "c1_in_a_cell_of_code_as_no_python", broken, Gives(points=3, said="a text in 'square'")
    for number, text in enumerate(EXPLAINED):
        yield f"c0_nothing_written_but_the_code_explained_{number}", square(text), Gives(explain=False)
    yield "c0_written_in_both_places", square(f"{{code}}\n# {NEVER}", WORDS), Gives()


def switched_off(course: Course) -> Iterator[tuple[str, Notebook, Gives]]:
    """Code that is not executed is judged by a person; code that is executed and wrong is judged."""
    for number, text in enumerate((
        "# def square(x):\n#     return x * x",
        f'"""\n{SQUARE}"""', f"%%writefile mine.py\n{SQUARE}", f"%%html\n{SQUARE}",
    )):  # fmt: skip
        looked_at = Gives(points=3, looked_at=("test_square",))
        yield f"c2_switched_off_{number}", changed(answered(course), square=text), looked_at
        beside_it = changed(answered(course), without="square")
        beside_it["cells"].insert(1, code(text))
        yield f"c2_switched_off_in_a_new_cell_{number}", beside_it, looked_at
    wrong = "# def square(x):\n#     return x * x\ndef square(x):\n    return x + x"
    yield "c2_an_old_draft_above_a_wrong_answer", changed(answered(course), square=wrong), Gives(points=3)
    yield "c2_a_magic_that_executes", changed(answered(course), square=f"%%time\n{SQUARE}"), Gives()


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
        merged = changed(answered(course), square=f"{SQUARE}\n\n{text}", without="cube")
        yield f"c2_merged_{number}", merged, Gives(said="another cell has the answer")
    both, stub = f"{SQUARE}\n\n{CUBE}", at(released(course), "cube")["source"]
    above = changed(answered(course), square=both, cube=stub)
    yield "c2_merged_and_the_stub_left", above, Gives(said="as it was handed out")
    yield "c2_merged_into_the_next_answer", changed(answered(course), cube=both, without="square"), Gives()
    test = f"{CUBE}\n\n{at(released(course), 'test_cube')['source']}"
    locked = changed(answered(course), test_cube=test, without="cube")
    yield "c2_merged_into_the_test", locked, Gives(said="had been changed")


def copies(course: Course) -> Iterator[tuple[str, Notebook, Gives]]:
    wrong, half = "def square(x):\n    # first try\n    return x + x\n", "def square(x):\n    return x *\n"
    for name, text, kind, after in (
        ("old_draft_as_text", wrong, "markdown", True),
        ("old_draft_as_raw_cell", wrong, "raw", True),
        ("half_finished_above", half, "code", False),
        ("half_finished_below", half, "code", True),
        ("old_draft_above", wrong, "code", False),
        ("helper_in_a_copy", "helper = 1", "code", False),
        ("notes_in_a_copy", "My plan: multiply x by itself", "markdown", False),
    ):
        yield f"c3_{name}", beside(answered(course), "square", text, kind, after=after), Gives()
    yield "c3_wrong_draft_below", beside(answered(course), "square", wrong, after=True), Gives(points=3)
    late = answered(course)
    copy = lab.retyped(at(late, "square"), "code") | {"source": wrong}
    yield "c3_old_draft_at_the_end", changed(late, last=copy), Gives()
    alone = answered(course)
    index = alone["cells"].index(at(alone, "square"))
    alone["cells"][index] = lab.retyped(alone["cells"][index], "markdown")
    yield "c3_the_answer_itself_as_text", alone, Gives()
    two = beside(answered(course, "First half."), "explain", "Second half.", "markdown", after=True)
    yield "c3_words_in_two_copies", two, Gives()


def files(course: Course) -> Iterator[tuple[str, Files, Gives]]:
    text = json.dumps(answered(course, "Früher: minus mal minus €"), ensure_ascii=False, indent=1)
    solved, untouched = text.encode(), json.dumps(released(course)).encode()
    for name, data, said in (
        ("windows_1252", text.encode("cp1252"), "Windows-1252"),
        ("utf_16", text.encode("utf-16"), "UTF-16"),
        ("utf_16_without_mark", text.encode("utf-16-le"), "UTF-16"),
        ("byte_order_mark", b"\xef\xbb\xbf" + solved, ""),
        ("trailing_brace", solved + b"\n}\n", "after the end"),
        ("trailing_zeros", solved + b"\x00" * 100, ""),
    ):
        yield f"c5_{name}", {FILE: data}, Gives(said=said)
    names = (f"{FILE}.txt", f"{FILE}.json", "p1.json", f"{FILE} ", "p1", "P1.IPYNB", "p1 (1).ipynb")
    for number, name in enumerate(names):
        yield f"c6_name_{number}", {name: solved}, Gives(said=f"was taken for {FILE}")
    yield "c7_copy_solved", {FILE: untouched, "Copy of p1.ipynb": solved}, Gives(said="taken in its place")
    yield "c7_copy_solved_original_broken", {FILE: b"", "p1 (1).ipynb": solved}, Gives(said="cannot be read")
    read = Gives(points=None, said="nothing was written into p1.ipynb, and", looked_at=("test_square", "test_cube"))
    for number, name in enumerate(("p1.py", "p1.md", "p1.qmd", "p1.Rmd", "p1.html", "p1.pdf", "mine.py", "mine.docx")):
        yield f"c7_written_beside_{number}", {FILE: untouched, name: b"def square(x):\n    return x * x"}, read
    yield "c7_written_beside_in_a_notebook", {FILE: untouched, "mine.ipynb": b'{"cells": [{"source": "x = 1"}]}'}, read
    pair = "\n".join(f"# %%\n{cell['source']}" for cell in released(course)["cells"] if cell["cell_type"] == "code")
    nothing = {FILE: untouched, "p1.py": pair.encode(), "mine.md": b"", "mine.ipynb": b'{"cells": []}', "a.csv": b"1,2"}
    yield "c7_nothing_written_beside", nothing, Gives(points=0, explain=False)
    bare = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    yield "c7_no_cells_at_all", {FILE: bare}, Gives(points=0, said="'explain' was missing", explain=False)
    yield "c7_original_solved_and_a_pair", {FILE: solved, "p1.py": b"x = 1"}, Gives()
    yield "c7_original_solved", {FILE: solved, "Copy of p1.ipynb": untouched}, Gives(said="left out")


def stopped(course: Course) -> Iterator[tuple[str, Notebook, Gives]]:
    for number, line in enumerate((
        "from google.colab import files", "from google.colab import drive\ndrive.mount('/content/drive')",
        "import google.colab", "from google import colab", "from google.colab.patches import cv2_imshow",
        "from google.colab import userdata, output\nkey = userdata.get('KEY')",
        "from google.colab import (\n    files,\n)", "%matplotlib widget", "%matplotlib notebook",
    )):  # fmt: skip
        yield f"c8_line_{number}", changed(answered(course), square=f"{line}\n{SQUARE}"), Gives()
    where = "try:\n    import google.colab\n    here = 'colab'\nexcept ImportError:\n    here = 'own'\n"
    asks = changed(answered(course), square=f"{where}{SQUARE}assert here == 'own'\n")
    yield "c8_a_notebook_that_asks_where_it_runs", asks, Gives()


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


#: What each group of cases is about, by how their names begin.
GROUPS = {
    "good": "an ordinary submission",
    "c0": "a question that was left open does not wait for a person",
    "c1": "words outside of their cell wait for a person",
    "c2": "no stub is laid over an answer, and what is switched off waits",
    "c3": "a copy that was switched off or is half finished costs nothing",
    "c5": "a file that one step makes readable is read",
    "c6": "a notebook under another name is taken with a note",
    "c7": "a solved copy beside an untouched original is taken, and work in another form waits",
    "c8": "lines of Colab and of widgets stop no cell",
}


@pytest.mark.parametrize("group", GROUPS)
def test_every_submission_gives_what_stands_beside_it(course: Course, graded: Graded, group: str) -> None:
    expect(course, graded, group)


def test_every_case_is_in_a_group(course: Course) -> None:
    assert [student for student, _, _ in cases(course) if not student.startswith(tuple(GROUPS))] == []


def test_a_written_answer_in_a_new_cell_waits_for_a_person_on_every_list(
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
def test_a_file_that_is_no_notebook_has_no_0(graded: dict[str, dict[str, Any]], student: str) -> None:
    row = graded[student]
    assert (row["points"], row["points_so_far"], row["could_not_be_graded"]) == (None, None, [NAME])
    assert row["notes"][0].startswith(f"{FILE} could not be read: the file ") and row["failure"] == ""
    assert row["waiting"] == ["test_square", "test_cube", "explain"]


def test_the_gradebook_and_ci_have_no_0_either(course: Course, graded: object) -> None:
    with Gradebook(course.db_url) as book:
        grades = book.find_submission_notebook(NAME, lab.LAB, "conflict").grades
        assert {grade.auto_score for grade in grades} == {None} and all(grade.needs_manual_grade for grade in grades)
    outcome = grade_folder(course, lab.LAB, course.submitted("conflict", lab.LAB), "conflict", "auto")
    assert "conflict markers" in outcome.failure


def test_points_that_a_person_gives_for_such_a_file_count_until_another_one_comes(
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


def test_a_folder_without_a_notebook_says_what_is_there(course: Course, tmp_path: Path) -> None:
    folder = tmp_path / "essay" / lab.LAB
    folder.mkdir(parents=True)
    (folder / "essay.docx").write_bytes(b"PK")
    with pytest.raises(NothingToGrade, match=r"expected p1\.ipynb; found essay\.docx, which is no notebook with"):
        read_submission(folder, "essay", Assignment.open(course, lab.LAB))


def test_a_missing_name_says_where_the_cell_that_defines_it_stopped(course: Course, tmp_path: Path) -> None:
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


def test_a_test_that_was_corrected_after_the_hand_in_is_no_tampering(tmp_path: Path) -> None:
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


def test_a_pasted_picture_is_shown_to_grader_and_student(course: Course, tmp_path: Path) -> None:
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
