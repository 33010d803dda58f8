"""``autograder student erase``: afterwards nothing names the person, and nothing else has changed."""

import io
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.classroom.journal import Journal, only_run
from autograder.cli import main
from autograder.gradebook.late.file import read_policy
from autograder.gradebook.late.times import read_times
from autograder.model.course import Course
from tests.feedback.toy import ASSIGNMENT
from tests.privacy.conftest import DEADLINE, GONE, LMS, NAMES, STAYS, address, tables

pytestmark = pytest.mark.slow


def run(root: Path, *words: str) -> int:
    return main(["--course", str(root), "student", "erase", *words])


def unpacked(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, name.encode() + data
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield from unpacked(f"{name}/{member}", archive.read(member))


def naming(root: Path, *words: str) -> set[str]:
    """The files with one of the words in their name, their bytes, or a member; SQLite also row by row."""
    found = set()
    for path in root.rglob("*"):
        name = str(path.relative_to(root))
        data = path.read_bytes() if path.is_file() else b""
        texts = dict(unpacked(name, data))
        if data.startswith(b"SQLite format 3"):
            texts[f"{name} (rows)"] = tables(path).encode()
        for place, text in texts.items():
            for codec in ("utf-8", "utf-16-le", "unicode_escape"):
                if any(word.encode(codec).lower() in text.lower() for word in words):
                    found.add(place)
    return found


def about(student: str) -> tuple[str, ...]:
    return student, *NAMES[student], address(student), LMS[student]


def test_before_there_is_much_to_erase(term):
    """The search below finds what it must find: else an empty result would say nothing."""
    found = naming(term, *about(GONE))
    for name in ("gradebook.db", "gradebook.db (rows)", "students.csv", "submissions.zip/inner/list.csv",
                 ".autograder/times/toy.json", ".autograder/toy.jsonl", "extensions.toml", "groups.toml",
                 "exports/toy.csv", "exports/toy.json", "roster.tsv", "times.csv", ".nbgrader.log"):  # fmt: skip
        assert name in found, name
    assert len(found) > 30


def test_afterwards_no_file_and_no_row_holds_id_name_or_address(term, capsys):
    assert run(term, GONE, "--yes") == 0
    assert naming(term, *about(GONE)) == set()
    said = capsys.readouterr().out
    for path in (f"removed: submitted/{GONE}/", f"removed: clones/toy-{GONE}/", "changed: submissions.zip",
                 "changed: extensions.toml", "changed: gradebook.db, table student: 1"):  # fmt: skip
        assert path in said, path


@pytest.mark.parametrize("word", [ASSIGNMENT, "nobody"])
def test_a_word_of_the_course_that_is_no_students_id_changes_nothing(term, word, capsys):
    assert run(term, word, "--yes") == 2
    said = capsys.readouterr()
    assert f"no student {word!r} is known here" in said.err and not said.out


def test_the_kept_answer_of_a_run_that_had_nothing_to_do_goes_along(term):
    path = term / ".autograder" / "unchanged" / f"{ASSIGNMENT}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{"rows": [{{"student": "{GONE}"}}], "stamps": {{"/course/submitted/{GONE}/x": null}}}}')
    assert run(term, GONE, "--yes") == 0
    assert not path.exists() or GONE not in path.read_text()


def test_everybody_else_stays_as_they_were(term):
    before = naming(term, *about(STAYS))
    rows = _rows_of(term, STAYS)
    assert run(term, GONE, "--yes") == 0
    gone = before - naming(term, *about(STAYS))
    assert all(name.startswith("reports/") for name in gone), gone
    assert _rows_of(term, STAYS) == rows
    course = Course(term)
    assert set(read_times(term, ASSIGNMENT)) == {STAYS}
    assert Journal(term, ASSIGNMENT).entry(STAYS) is not None
    assert set(read_policy(term).assignments["toy"].extensions) == {STAYS}
    assert course.everybody_submitted("toy") == [STAYS]
    assert main(["--course", str(term), "export", "toy", "--to", "csv"]) == 0
    assert main(["--course", str(term), "report", "toy"]) == 0


def _rows_of(root: Path, student: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(root / "gradebook.db") as database:
        return sorted(
            database.execute(
                "select s.student_id, g.auto_score, g.manual_score from grade g join submitted_notebook n "
                "on g.notebook_id = n.id join submitted_assignment s on n.assignment_id = s.id where s.student_id = ?",
                (student,),
            ).fetchall()
        )


@pytest.mark.parametrize(
    ("policy", "private"),
    [
        (f"{DEADLINE}[assignments.toy.extensions]\n{GONE} = 2  # illness\n{STAYS} = 2\n", ""),
        (f"{DEADLINE}extensions = {{ {GONE} = 2, {STAYS} = 2 }}\n", ""),
        (DEADLINE, f'toy = {{ {STAYS} = 2, "{GONE}" = 2026-11-22T09:00:00Z }}\n'),
        (DEADLINE, f"# {GONE} was ill\n[toy]\n'{GONE}' = 2\n{STAYS} = 2\n"),
        (DEADLINE, f'["toy"]\n{GONE} = 2\n"{STAYS}" = 2\n'),
    ],
)
def test_extensions_go_from_both_files_however_they_are_written(term, policy, private):
    (term / "late_policy.toml").write_text(policy)
    (term / "extensions.toml").write_text(private)
    assert run(term, GONE, "--yes") == 0
    assert naming(term, GONE) == set()
    assert set(read_policy(term).assignments["toy"].extensions) == {STAYS}


def test_without_yes_it_is_said_and_nothing_is_changed(term, capsys):
    before = {path: path.read_bytes() for path in term.rglob("*") if path.is_file()}
    assert run(term, GONE) == 0
    said = capsys.readouterr().out
    assert f"to be removed: submitted/{GONE}/" in said and "with --yes" in said
    after = {path: path.read_bytes() for path in term.rglob("*") if path.is_file()}
    assert {path for path in before if after.get(path) != before[path]} == set()


def test_nobody_that_is_known_is_an_error(term, capsys):
    assert run(term, "nobody-here", "--yes") == 2
    assert "no student 'nobody-here' is known here" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", ".", "..", "../course", "a/b"])
def test_what_is_no_id_removes_nothing(term, name, capsys):
    assert run(term, name, "--yes") == 2
    assert (term / "submitted" / GONE).is_dir()


def test_what_cannot_be_cleaned_is_listed_and_stays(term, capsys):
    (term / "minutes.txt").write_text(f"The appeal of {GONE} was heard.")
    work = term / "submitted" / STAYS / "toy" / "1_sums.ipynb"
    work.write_text(f"# with thanks to {GONE}")
    assert run(term, GONE, "--yes") == 1
    said = capsys.readouterr().out
    assert "left: minutes.txt: names the person; change it by hand" in said
    assert f"left: submitted/{STAYS}/toy/1_sums.ipynb" in said
    assert GONE in work.read_text() and (term / "minutes.txt").is_file()


def test_while_an_assignment_is_graded_nobody_is_erased(term, capsys):
    with only_run(term, ASSIGNMENT):
        assert run(term, GONE, "--yes") == 2
    assert "another run is grading toy" in capsys.readouterr().err
    assert (term / "submitted" / GONE).is_dir()


@pytest.mark.parametrize("name", ["source", "release", "toy", "times", "title", "points", "student", "notebooks"])
def test_a_student_whose_id_is_the_name_of_something_takes_nothing_along(term, name):
    (term / "submitted" / name / "toy").mkdir(parents=True)
    course = {path: path.read_bytes() for folder in ("source", "release") for path in (term / folder).rglob("*.ipynb")}
    settings = (term / "course.toml").read_text()
    assert run(term, name, "--yes") in (0, 1)
    assert {path: path.read_bytes() for path in course} == course
    assert (term / "course.toml").read_text() == settings
    assert set(read_times(term, ASSIGNMENT)) == set(NAMES)
    assert (term / "submitted" / STAYS / "toy").is_dir() and not (term / "submitted" / name).exists()
    assert main(["--course", str(term), "export", "toy", "--to", "csv"]) == 0


def test_two_people_of_one_name_are_told_apart(term):
    twin = "twin88"
    first, last = NAMES[GONE]
    with Gradebook(Course(term).db_url) as book:
        book.add_student(twin, first_name=first, last_name=last, email="twin@uni.example")
    (term / "people.csv").write_text(f"student,name\n{GONE},{first} {last}\n{twin},{first} {last}\n")
    assert run(term, GONE, "--yes") in (0, 1)
    assert (term / "people.csv").read_text() == f"student,name\n{twin},{first} {last}\n"
    with Gradebook(Course(term).db_url) as book:
        assert book.find_student(twin).last_name == last
