"""What nbgrader goes on after is a note; what an instructor accepts once is kept, for that content alone."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.cli import main
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.model.course_file import NAME, read_course_file
from autograder.publish.publish import publish
from autograder.release.findings import Accepted, accept, entry, pinned
from autograder.release.generate import generate
from autograder.release.judgeable import wrong_points
from autograder.release.leaks.search import release_leaks
from tests.plain.notebooks import answer, code, graded, notebook, read_by_hand, words, write

pytestmark = pytest.mark.slow

SOLUTION = """
def smoothed(values):
    ### BEGIN SOLUTION
    padded = [values[0], *values, values[-1]]
    triples = zip(padded, padded[1:], padded[2:])
    return [sum(triple) / 3 for triple in triples]
    ### END SOLUTION
"""
PASTED = words("As in the lecture:\n\n    padded = [values[0], *values, values[-1]]\n"
               "    triples = zip(padded, padded[1:], padded[2:])")  # fmt: skip


def course_of(root: Path, *cells: nbformat.NotebookNode) -> Course:
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    write(notebook(words("# Smoothing"), *cells), root / "source/ps1/p1.ipynb")
    return Course(root)


def printed_tables(said: str) -> str:
    """The tables that a command offers for ``course.toml``."""
    return "\n".join(re.findall(r"^(?:\[\[accepted\]\]|\w+ = \".*\")$", said, re.MULTILINE))


def leaked(root: Path, *cells: nbformat.NotebookNode) -> list:
    course = course_of(root, *cells)
    (root / "empty").mkdir(exist_ok=True)
    return release_leaks(root / "empty", Assignment.unreleased(course, "ps1"))


SMOOTHED = (answer("smoothed", SOLUTION), graded("test_smoothed", "assert smoothed([3, 3]) == [3, 3]", 2))


def test_what_nbgrader_goes_on_after_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deliberate = answer("deliberate", "### BEGIN SOLUTION\nundefined + 1\n### END SOLUTION")
    deliberate.metadata["tags"] = ["raises-exception"]
    course_of(
        tmp_path,
        code("1 / 0  # see what Python says"),
        code("name = input('Who are you?')"),
        code("import urllib.request\nurllib.request.urlopen('http://data.example.org/rain.csv')"),
        deliberate,
        answer("loop", "total = 0\nfor i in range(4):\n    ### BEGIN SOLUTION\n    total += i\n    ### END SOLUTION"),
        answer("gap", "if True:\n### BEGIN SOLUTION\n    y = 1\n### END SOLUTION"),
        code("total + y"),
        *SMOOTHED,
        words("## In your own words (2 points)"),
        read_by_hand("opinion", "Mine.", points=0),
    )
    assert main(["--course-dir", str(tmp_path), "release", "ps1"]) == 0
    said = capsys.readouterr().out
    assert said.count("nbgrader goes on after it") == 4
    assert "nobody answers input()" in said and "put the file beside the notebook" in said
    assert re.search("note: .*: the heading says 2 points, the graded cells below it have 0", said)
    assert "note: ps1/p1.ipynb" in said and "nothing is filled in, and it stops" in said
    assert (tmp_path / "release/ps1/p1.ipynb").is_file()


@pytest.mark.parametrize(("above", "test", "said"), [
    ("data = open('../rain.csv').read()", "assert smoothed([len(data)])", "it stops: FileNotFoundError"),
    ("1 / 0  # see what Python says", "assert smoothed([3, 3]) == [4, 4]", "cell 'test_smoothed': failed with 0.0"),
])  # fmt: skip
def test_a_solution_that_fails_is_told_once_by_its_cause_and_cannot_be_accepted(tmp_path, capsys, above, test, said):
    course_of(tmp_path, code(above), answer("smoothed", SOLUTION), graded("test_smoothed", test, 2))
    assert main(["--course-dir", str(tmp_path), "release", "ps1"]) == 1
    told, beside = capsys.readouterr()
    (problem,) = re.findall("(?m)^      ps1/.*$", told)
    assert beside == "" and said in problem and "where code can cheat" not in told and printed_tables(told) == ""


def test_what_is_accepted_once_is_released_and_everybody_has_the_points_of_a_cell_without_a_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    free, present = graded("free", "assert True", 1), graded("present", "# a point for being here", 1)
    course = course_of(tmp_path, PASTED, *SMOOTHED, free, present)
    release = ["--course-dir", str(tmp_path), "release", "ps1"]
    assert main(release) == 1
    said = capsys.readouterr().out
    assert "most of solution ps1/p1/smoothed" in said and "with 1.0 of 1 points" in said
    assert "ps1/p1.ipynb, cell 'present': there is no test in it" in said
    lines = printed_tables(said)
    assert [one["finding"] for one in tomllib.loads(lines)["accepted"]] == ["untested", "leak", "untouched"]
    (tmp_path / NAME).write_text(lines)
    assert main(release) == 2
    assert "say in 'reason' why this is meant so" in capsys.readouterr().err
    (tmp_path / NAME).write_text(lines.replace('reason = ""', 'reason = "shown in the lecture"'))
    assert main(release) == 0
    said = capsys.readouterr().out
    assert said.count("accepted: ps1/p1.ipynb, cell ") == 3 and "(shown in the lecture)" in said
    shutil.copytree(course.release("ps1"), course.submitted("ada", "ps1"))
    assert main([*release[:2], "grade", "ps1"]) == 0
    verdicts = json.loads((course.autograded("ada", "ps1") / "verdicts.json").read_text())
    points = {cell["cell"]: cell["points"] for cell in verdicts["notebooks"][0]["cells"]}
    assert points == {"test_smoothed": 0, "free": 1, "present": 1}


def test_notes_are_accepted_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_kernel = graded("k", "# autograder: kernel\nassert smoothed([3])")
    course_of(tmp_path, *SMOOTHED, code("1 / 0  # see what Python says"), in_kernel)
    check = ["--course-dir", str(tmp_path), "check", "ps1"]
    assert main(check) == 0
    before = capsys.readouterr().out
    assert "note: " in before and "! 1 of 3 points rest on" in before and "[[accepted]]" not in before
    assert main([*check, "--notes"]) == 0
    lines = printed_tables(capsys.readouterr().out)
    (tmp_path / NAME).write_text(lines.replace('reason = ""', 'reason = "on purpose"'))
    assert main(check) == 0
    said = capsys.readouterr().out
    assert "note: " not in said and "rest on" not in said and said.count("(on purpose)") == before.count("note: ") + 1


def test_a_new_leak_in_an_accepted_cell_is_found(tmp_path: Path) -> None:
    (first,) = leaked(tmp_path, PASTED, *SMOOTHED)
    accept(tmp_path, [first], "on purpose")
    accepted = Accepted.of_course(tmp_path)
    assert accepted.left(leaked(tmp_path, PASTED, *SMOOTHED)) == []
    more = words(PASTED.source + "\n    return [sum(triple) / 3 for triple in triples]")
    (second,) = accepted.left(leaked(tmp_path, more, *SMOOTHED))
    assert second.where == first.where and accepted.was_changed(second)
    other = answer("other", "### BEGIN SOLUTION\ntriples = zip(padded, padded[1:], padded[2:])\n### END SOLUTION")
    assert [one.text[:30] for one in accepted.left(leaked(tmp_path, PASTED, *SMOOTHED, other))] != []


def test_the_same_words_in_another_cell_are_another_finding(tmp_path: Path) -> None:
    (first,) = leaked(tmp_path, PASTED, *SMOOTHED)
    accept(tmp_path, [first], "on purpose")
    elsewhere = words("Hint.\n\n" + PASTED.source)
    found = Accepted.of_course(tmp_path).left(leaked(tmp_path, PASTED, elsewhere, *SMOOTHED))
    assert [one.where for one in found] == ["ps1/p1.ipynb, cell 'c2'"]


def test_an_accepted_leak_is_published_too(tmp_path: Path) -> None:
    course = course_of(tmp_path, PASTED, *SMOOTHED)
    generate(course, "ps1")
    with pytest.raises(GradingError, match=r"would leak ps1/p1\.ipynb.*finding = \"leak\".*digest = .*course\.toml"):
        publish(tmp_path, tmp_path / "students")
    accept(tmp_path, leaked(tmp_path, PASTED, *SMOOTHED), "on purpose")
    publish(tmp_path, tmp_path / "students")


def test_signatures_alone_are_no_leak(tmp_path: Path) -> None:
    whole = answer("area", "### BEGIN SOLUTION\ndef area_of_a_rectangle(width, height):\n    return width * height\n"
                   "### END SOLUTION")  # fmt: skip
    shown = words(
        "Write `def area_of_a_rectangle(width, height):`\n\n    def area_of_a_rectangle(width, height):\n        ..."
    )
    assert leaked(tmp_path, shown, whole, graded("test_area", "assert area_of_a_rectangle(2, 3) == 6")) == []


def test_signatures_over_lines_and_docstrings_are_no_leak_and_bodies_are(tmp_path: Path) -> None:
    signature = '''
    def relaxed(grid, threshold=1e-4,
                bounds_left=0, bounds_right=0):
        """Relax a grid until nothing changes.

        Parameters
        grid : the values to begin with, one row for each place
        """'''
    body = "    while difference(grid) > threshold: grid = averages(grid)"
    whole = answer("relaxed", f"### BEGIN SOLUTION{signature}\n    {body}\n### END SOLUTION")
    test = graded("test_relaxed", "assert relaxed(1)")
    assert leaked(tmp_path, words(f"Write this function:\n{signature}"), whole, test) == []
    assert leaked(tmp_path, words(f"Write this function:\n{signature}\n    {body}"), whole, test) != []
    oneline = answer(
        "area", "### BEGIN SOLUTION\ndef area_of(width, height): return width * height / 2\n### END SOLUTION"
    )
    assert leaked(tmp_path, words("def area_of(width, height): return width * height / 2"), oneline, test) != []


def test_a_hidden_test_may_repeat_the_visible_one_of_its_own_cell_and_of_no_other(tmp_path: Path) -> None:
    line = "assert smoothed([0, 3, 6]) == [1, 3, 5], 'the ends count twice'"
    both = graded("test_both", f"{line}\n### BEGIN HIDDEN TESTS\nimport math\n{line}\n### END HIDDEN TESTS")
    assert leaked(tmp_path, SMOOTHED[0], both) == []
    hidden = graded("test_hidden", f"pass\n### BEGIN HIDDEN TESTS\n{line}\n### END HIDDEN TESTS")
    assert leaked(tmp_path, SMOOTHED[0], hidden, words(f"    {line}")) != []


def test_points_above_graded_cells_are_still_checked() -> None:
    wrong = notebook(words("# A"), words("## One (2 points)"), graded("a", "assert 1", 3), words("## Two (4 points)"))
    found = list(wrong_points("ps1/p1.ipynb", wrong))
    assert [(one.where, one.blocks) for one in found] == [
        ("ps1/p1.ipynb, cell 'c1'", True), ("ps1/p1.ipynb, cell 'c3'", False)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("accepted = 1", r"accepted: expected tables \[\[accepted\]\], got 1"),
        ("[[acepted]]\nfinding = 'leak'", "unknown key 'acepted' .*; did you mean 'accepted'"),
        ("[[accepted]]\nfinding = 'leak'\nwhere = 'x'\ndigest = '0'", "look at 'reason'"),
        ("[[accepted]]\nfinding = 'leak'\nwhere = 'x'\ndigest = '0'\nreason = ' '", "say in 'reason'"),
        ("[[accepted]]\nfinding = 'leak'\nwhere = 'x'\ndigest = '0'\nreason = 'y'\nmore = 'z'", "look at 'more'"),
        ("[[accepted]", "is not TOML"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / NAME).write_text(text)
    with pytest.raises(GradingError, match=said):
        Accepted.of_course(tmp_path)


def test_what_is_printed_is_what_is_read(tmp_path: Path) -> None:
    finding = pinned("leak", "a \"quoted\" \\ place, cell 'ä'", "text", "content")
    accept(tmp_path, [finding], "because\tso")
    (tmp_path / NAME).write_text("# mine\n" + (tmp_path / NAME).read_text())
    accept(tmp_path, [finding, pinned("leak", "b", "text", "other")], "twice")
    text = (tmp_path / NAME).read_text()
    assert text.startswith("# mine\n") and text.count("[[accepted]]") == 2
    assert Accepted.of_course(tmp_path).reason(finding) == "because\tso"
    assert tomllib.loads(entry(finding, "x"))["accepted"][0]["where"] == finding.where


def test_what_is_accepted_comes_after_the_settings_which_stay_as_they_are(tmp_path: Path) -> None:
    settings = '# My course.\ntitle = "Physics"  # for now\n\n[deliverables]\nps1 = ["a.py"]  # no newline at the end'
    (tmp_path / NAME).write_text(settings)
    finding = pinned("leak", "a", "text", "content")
    accept(tmp_path, [finding], "because")
    accept(tmp_path, [finding], "again")
    assert (tmp_path / NAME).read_text() == f"{settings}\n\n{entry(finding, 'because')}"
    assert read_course_file(tmp_path).deliverables == {"ps1": ("a.py",)}
    assert Accepted.of_course(tmp_path).reason(finding) == "because"


def test_a_file_of_an_earlier_version_says_in_one_line_where_its_tables_go(tmp_path: Path) -> None:
    (tmp_path / "accepted.toml").write_text(entry(pinned("leak", "a", "text", "content"), "because"))
    with pytest.raises(GradingError, match=r"^accepted\.toml is no longer read: append its tables to course\.toml"):
        Accepted.of_course(tmp_path)
