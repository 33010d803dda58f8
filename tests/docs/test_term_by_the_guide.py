"""An instructor's term by the guide alone: from an empty folder to the archive, with Moodle's zips of two assignments.

Moodle gives everybody another number in each assignment; a person is one row all the same, from beginning to end.
"""

import csv
import json
import re
import shutil
import zipfile
from pathlib import Path
from unicodedata import normalize

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.authoring.course_folder import EXAMPLE, make_course
from autograder.model import cells
from autograder.model.course import Course
from tests import small_class
from tests.docs.test_blocks import NOT_HERE, SHEET, type_in
from tests.grading import ROOT

pytestmark = pytest.mark.slow

GUIDE = (ROOT / "docs" / "instructor.md").read_text(encoding="utf-8").partition("## What course.toml says")[0]
PEOPLE = {"ada": "Ada Lovelace", "grace": "Grace Hopper", "noether": "Emmy Noether"}
ASSIGNMENTS = (EXAMPLE, small_class.SHEET)
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum grade,Last modified (submission),Last modified (grade)\n"
)
POLICY = """timezone = "Europe/Berlin"
per_day = "10%"

[assignments.ps1]
deadline = 2026-11-20T23:59:00
"""


def commands() -> list[str]:
    """What the guide's ten steps tell to type for an assignment, in order; ASSIGNMENT in the place of its own."""
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line.replace(SHEET, "ASSIGNMENT") for line in lines if line and line not in NOT_HERE]


def in_words(beginning: str) -> str:
    """A command that the guide has in its text."""
    (found,) = set(re.findall(rf"`({re.escape(beginning)}[^`]*)`", GUIDE))
    return found


def number(assignment: str, student: str) -> int:
    return 1000 * (1 + ASSIGNMENTS.index(assignment)) + 7 * list(PEOPLE).index(student)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Made in an empty folder, with an exercise that has stored references, and with plain tests and an essay."""
    root = tmp_path / "course"
    make_course(root)
    small_class.write_source(Course(root))
    (root / "class.csv").write_text(
        "id,first_name,last_name,email\n"
        + "".join(f"{one},{name.split()[0]},{name.split()[1]},{one}@uni.example\n" for one, name in PEOPLE.items())
    )
    return Course(root)


def make_it_ones_own(course: Course) -> None:
    """Steps 2 and 3: title, term, repository, deadlines."""
    path = course.root / "course.toml"
    text = 'term = "2026w"\nrepository = "uni/physics"\n' + path.read_text()
    path.write_text(re.sub(r"(?m)^title = .*$", 'title = "Physics"', text))
    (course.root / "late_policy.toml").write_text(POLICY)


def download_from_moodle(course: Course, assignment: str) -> None:
    """The zip of all submissions, and the grading worksheet; Grace is a day late."""
    lines = [WORKSHEET]
    with zipfile.ZipFile(course.root / "submissions.zip", "w") as archive:
        for student, name in PEOPLE.items():
            own = number(assignment, student)
            for path in sorted(course.release(assignment).glob("*.ipynb")):
                notebook = nbformat.read(path, as_version=4)
                for cell in notebook.cells:
                    if cells.is_solution(cell) and student != "noether":
                        cell.source = cell.source.replace("raise NotImplementedError()", small_class.RIGHT)
                        cell.source = cell.source.replace("YOUR ANSWER HERE", f"By {student}.")
                archive.writestr(f"{name}_{own}_assignsubmission_file/{path.name}", nbformat.writes(notebook))
            day = "Saturday, 21" if student == "grace" else "Friday, 20"
            status = "Submitted for grading"
            address = f"{student}@uni.example"
            lines.append(f'Participant {own},{name},{address},{status},,5,"{day} November 2026, 6:00 PM",-\n')
    (course.root / "students.csv").write_text("".join(lines), encoding="utf-8-sig")


def read_answers(course: Course, assignment: str) -> None:
    """Step 8, in the formgrader: 3 points for each answer that waits."""
    with Gradebook(course.db_url) as gradebook:
        for submission in gradebook.assignment_submissions(assignment):
            for grade in (grade for notebook in submission.notebooks for grade in notebook.grades):
                if grade.needs_manual_grade:
                    grade.manual_score, grade.needs_manual_grade = 3.0, False
        gradebook.db.commit()


def rows(path: Path) -> dict[str, dict[str, str]]:
    """A table of grades, student to line; no student has two."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = list(csv.DictReader(file))
    found = {line.get("student") or line["student_id"]: line for line in lines}
    assert len(found) == len(lines)
    return found


def test_a_term_by_the_guide_alone_has_one_row_per_person_from_beginning_to_end(course: Course) -> None:
    root = course.root
    make_it_ones_own(course)
    type_in(root, in_words("autograder student import"))
    for assignment in ASSIGNMENTS:
        for command in commands():
            if "references" in command and assignment != EXAMPLE:
                continue  # its tests are plain
            if command == "autograder doctor" and assignment != EXAMPLE:
                continue  # the machine is the same
            if command.startswith("autograder collect"):
                download_from_moodle(course, assignment)
                command += " --times students.csv"  # Moodle's worksheet has both
            if command.startswith("autograder feedback"):
                read_answers(course, assignment)
                command += " --to moodle"
            type_in(root, command.replace("ASSIGNMENT", assignment))

        assert course.everybody_submitted(assignment) == list(PEOPLE)
        assert set(rows(root / "exports" / f"{assignment}.csv")) == set(PEOPLE)
        with zipfile.ZipFile(root / "exports" / f"{assignment}-feedback-moodle.zip") as pages:
            numbers = {re.findall(r"_(\d+)_", name)[0] for name in pages.namelist()}
        assert numbers == {str(number(assignment, student)) for student in PEOPLE}

    essay = rows(root / "exports" / f"{small_class.SHEET}.csv")
    assert essay["ada"]["score"] == "6" and essay["grace"]["score"] == "5.4"  # a day late
    type_in(root, "autograder export --total --to csv")
    assert set(rows(root / "exports" / "course-total.csv")) == set(PEOPLE)
    lines = [line for line in (root / "grades.csv").read_text().splitlines() if line]
    assert len(lines) == 1 + len(ASSIGNMENTS) * len(PEOPLE)

    type_in(root, in_words("autograder term archive"))
    with zipfile.ZipFile(root / "archives" / "2026w.zip") as archive:
        for assignment in ASSIGNMENTS:
            results = json.loads(archive.read(f"results/{assignment}.json"))
            assert [one["student"] for one in results] == list(PEOPLE)
            assert {one["email"] for one in results} == {f"{student}@uni.example" for student in PEOPLE}
    told = type_in(root, in_words("autograder term new").replace("NAME", "2027s"))
    assert "moved into" in told and "late_policy.toml: its rules stay" in told
    again = Course(root)
    assert all(again.everybody_submitted(assignment) == [] for assignment in ASSIGNMENTS)
    shutil.rmtree(root.parent / "students")


#: id -> name; Zoë's id has an accent, José is in a group with Ada and hands in nothing himself.
CLASS = {"ada": "Ada Lovelace", "grace": "Grace Hopper", "zoë": "Zoë Dupré", "josé": "José Pérez"}
#: A deadline on Friday. Grace was a day late; Zoë, three days, has an extension of four.
CAME_IN = {"ada": 20, "grace": 21, "zoë": 23}
SCORES = {"ada": "6", "grace": "5.4", "zoë": "6", "josé": "6"}


def download(course: Course, lms: str) -> list[str]:
    """The zip of all submissions with names as a Mac writes them, the LMS's table, and times; the options for them."""
    gradebook = "Student,ID,SIS User ID,SIS Login ID,Section,ps1 (7)\n    Points Possible,,,,,7\n"
    table, times = gradebook if lms == "canvas" else WORKSHEET, ["id,time"]
    with zipfile.ZipFile(course.root / "submissions.zip", "w") as archive:
        for number, (student, name) in enumerate(CLASS.items(), start=101):
            day = CAME_IN.get(student)
            canvas = "".join(c for c in normalize("NFD", name.lower()) if c.isalpha())
            prefix = f"{canvas}_{number}_9{number}_" if lms == "canvas" else f"{name}_{number}_assignsubmission_file_/"
            for path in sorted(course.submitted(student, small_class.SHEET).glob("*.ipynb")) if day else ():
                archive.write(path, normalize("NFD", f"{prefix}{path.name}"))
            last, first = reversed(name.split())
            when = f'"Friday, {day} November 2026, 6:00 PM"' if day else "-"
            row = f'"{last}, {first}",{number},,{student},A,'
            table += (
                row if lms == "canvas" else f"Participant {number},{name},{student}@uni.example,Submitted,,7,{when},-"
            )
            table += "\n"
            times += [f"{number},2026-11-{day} 18:00"] if day else []
    (course.root / "table.csv").write_text(table, encoding="utf-8-sig")
    (course.root / "times.csv").write_text("\n".join(times))
    return ["--names", "table.csv", "--times", "times.csv" if lms == "canvas" else "table.csv"]


@pytest.mark.parametrize("lms", ["canvas", "moodle"])
def test_a_person_is_one_row_and_has_one_number_in_every_place(course: Course, lms: str) -> None:
    root = course.root
    (root / "late_policy.toml").write_text(POLICY)
    (root / "extensions.toml").write_text(normalize("NFD", '[ps1]\n"zoë" = 4\n'))
    (root / "groups.toml").write_text(normalize("NFC", '[ps1]\npair = ["ada", "josé"]\n'))
    lines = [f"{one};{name.split()[0]};{name.split()[1]};{one}@uni.example" for one, name in CLASS.items()]
    (root / "class.csv").write_bytes("\r\n".join(["id;first_name;last_name;email", *lines]).encode("latin-1"))
    type_in(root, "autograder student import class.csv; autograder release ps1")
    for student in CAME_IN:
        small_class.hand_in(course, student)
    lists = " ".join(download(course, lms))
    shutil.rmtree(root / "submitted")
    collected = f"autograder collect ps1 submissions.zip {lists} --yes"
    type_in(root, collected)
    type_in(root, "autograder grade ps1")
    read_answers(course, small_class.SHEET)
    for name in ("table.csv", "times.csv"):  # everybody hands the same files in again, two days later
        late = re.sub(r"(2026-11-|riday, )2\d", r"\g<1>25", (root / name).read_text("utf-8-sig"))
        (root / name).write_text(late, encoding="utf-8-sig")
    assert type_in(root, collected).count("its first time counts") == len(CAME_IN)
    table = type_in(root, "autograder grade ps1; autograder feedback ps1; autograder report ps1")
    type_in(root, "autograder export ps1 --to csv; autograder report ps1 --anonymous")
    type_in(root, f"autograder export ps1 --to {lms} --columns table.csv")

    assert {one: row["score"] for one, row in rows(root / "exports" / "ps1.csv").items()} == SCORES
    with (root / "exports" / f"ps1-{lms}.csv").open(encoding="utf-8-sig", newline="") as file:
        in_lms = {line.get("Full name") or " ".join(reversed(line["Student"].split(", "))): line
                  for line in csv.DictReader(file)}  # fmt: skip
    assert {name: in_lms[name].get("Grade") or in_lms[name].get("ps1 (7)") for name in CLASS.values()} == {
        CLASS[student]: score for student, score in SCORES.items()
    }
    assert "(josé): graded by the submission of a group mate" in type_in(root, "autograder status ps1")
    assert set(re.findall(r"(?m)^│ (\S.*?) +│", table)) == {"ada, josé", "grace", "zoë"}
    for student, score in SCORES.items():
        page = (root / "feedback" / student / "ps1" / "1_mean.html").read_text("utf-8")
        assert ("another of you handed it in" in page) is (student == "josé")
        assert re.findall(r"All notebooks: .*?([\d.]+)(?: of 7 points| count)\.<", page) == [score]
    for report in ("ps1", "ps1-anonymous"):
        text = (root / "reports" / report / "index.html").read_text("utf-8").partition('id="students"')[2]
        assert sorted(re.findall(r">([\d.]+)</td>\s*</tr>", text)) == sorted(SCORES.values())
        assert all(bool(re.search(rf"<td>{one}[ <]", text)) is (report == "ps1") for one in CLASS)
