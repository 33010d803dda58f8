"""Each format, re-read by somebody else: columns as the importers have them, names as they were, and no formula."""

import csv
import io
import json
import random
import re
import shutil

import pytest

from autograder.errors import GradingError
from autograder.exports import FORMATS, WITH_TEMPLATE
from autograder.exports.formats import make
from autograder.exports.sheet import neutral, number, original, read_sheet, to_csv, whole_number
from autograder.gradebook.gather import gather
from autograder.model.course import Course
from tests.exports import importers
from tests.exports.conftest import NAMES, cells, comment, rename
from tests.feedback.toy import hand_in

DANGEROUS = re.compile(r"[ \"']*[=+\-@＝＋－＠\t\r\n\0]")


def people(*names: str) -> list[dict[str, str]]:
    return [
        {
            "id": str(100 + number), "sis_user_id": f"sis-{name}", "login": name, "username": name,
            "participant": str(900 + number), "name": f"{NAMES[name][1]}, {NAMES[name][0]}",
            "Username": name, "Email address": f"{name}@uni.example",
        }
        for number, name in enumerate(names)
    ]  # fmt: skip


@pytest.mark.parametrize("to", ["canvas", "moodle", "csv"])
def test_no_cell_begins_a_formula_and_no_name_is_lost(named, to):
    made = make(gather(named, "toy"), to)
    rows = importers.strictly(made.data.removeprefix(b"\xef\xbb\xbf"))
    assert len({len(row) for row in rows}) == 1
    texts = [cell for row in rows for cell in row]
    for cell in texts:
        assert not DANGEROUS.match(cell) or cell.startswith("'") or re.fullmatch(r"-?\d+(\.\d+)?", cell), cell
        assert not re.search(r"[,;\t\r\n][ \"]*[=+@-]", cell), cell
    back = {original(cell) for cell in texts}
    for first, last in NAMES.values():
        assert {first, last} <= back or f"{last}, {first}" in back


def test_json_has_the_names_as_they_are(named):
    read = json.loads(make(gather(named, "toy"), "json").data)
    assert {one["student"]: (one["first_name"], one["last_name"]) for one in read["students"]} == NAMES
    assert read["students"][0]["exercises"] == [
        {"notebook": "1_sums", "exercise": "row_sums", "status": "passed", "points": 3.0, "max_points": 3.0},
        {"notebook": "1_sums", "exercise": "why", "status": "passed", "points": 2.0, "max_points": 2.0},
    ]


def test_csv_has_a_line_per_student_and_a_column_per_exercise(named, tmp_path):
    course = Course(shutil.copytree(named.root, tmp_path / "course"))
    comment(course, "ada", "why", "Well argued;\n=surely")
    data = make(gather(course, "toy"), "csv").data
    assert data.startswith(b"\xef\xbb\xbf")
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))}
    ada = rows["ada"]
    assert (ada["1_sums/row_sums (3)"], ada["1_sums/why (2)"], ada["score"], ada["max_points"]) == ("3", "2", "5", "5")
    assert (ada["state"], ada["waiting"], ada["deduction"]) == ("graded", "", "0")
    assert original(ada["comments"]) == "why: Well argued;\n=surely"
    assert set(rows) == set(NAMES)


def test_canvas_reads_the_plain_file_by_login(named):
    upload = importers.canvas(make(gather(named, "toy"), "canvas").data, people(*NAMES))
    assert (upload.assignment, upload.assignment_id, upload.points_possible) == ("toy", None, "5")
    assert upload.scores == dict.fromkeys(NAMES, "5")
    assert upload.unknown == []


CANVAS_HEADER = "Student,ID,SIS User ID,SIS Login ID,Section,Other (7),Toy (4711),Homework Current Score,Final Score\n"


def canvas_export(tmp_path, lines: str):
    path = tmp_path / "gradebook.csv"
    path.write_text(
        f"\ufeff{CANVAS_HEADER}    Points Possible,,,,,10,5.00,(read only),(read only)\n{lines}", encoding="utf-8"
    )
    return path


def test_canvas_reads_its_own_columns_filled_in(named, tmp_path):
    given = canvas_export(
        tmp_path,
        ",,,,,,Manual Posting,,\n"
        '"Lovelace, Ada",100,sis-ada,ada,A,9,1.00,10,10\n'
        '"=""=x""",101,sis-bob,bob@uni.example,B,,,,\n'
        '"Elsewhere, Eve",999,sis-eve,eve,B,3,4.00,,\n',
    )
    made = make(gather(named, "toy"), "canvas", given)
    rows = importers.strictly(made.data)
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Toy (4711)"]
    assert rows[1] == ["    Points Possible", "", "", "", "", "5"]
    assert rows[2] == ["Lovelace, Ada", "100", "sis-ada", "ada", "A", "5"]
    upload = importers.canvas(made.data, people("ada", "bob"))
    assert (upload.assignment_id, upload.points_possible, upload.scores) == ("4711", "5", {"ada": "5", "bob": "5"})
    assert made.left_out == tuple(sorted(set(NAMES) - {"ada", "bob"}))


def test_what_waits_is_empty_in_canvas_and_not_zero(course, tmp_path):
    hand_in(course, "ada", cells=cells(3.0, None))
    hand_in(course, "bob", cells=cells(0.0, 0.0))
    given = canvas_export(tmp_path, "Ada,1,,ada,A,,4,,\nBob,2,,bob,A,,4,,\n")
    rows = importers.strictly(make(gather(course, "toy"), "canvas", given).data)
    assert [(row[3], row[-1]) for row in rows[2:]] == [("ada", ""), ("bob", "0")]


WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
)


def worksheet(tmp_path, lines: str):
    (tmp_path / "worksheet.csv").write_text(WORKSHEET + lines, encoding="utf-8")
    return tmp_path / "worksheet.csv"


def test_moodle_reads_its_worksheet_filled_in(course, tmp_path):
    hand_in(course, "ada", cells=cells(3.0, 1.5))
    hand_in(course, "bob", cells=cells(3.0, None))
    rename(course, "ada", *NAMES["ada"])
    comment(course, "ada", "why", "<b>Well</b>\nargued & short")
    given = worksheet(
        tmp_path,
        'Participant 900,"Ada, Countess Love""lace",ada@uni.example,Submitted,,5.00,Yes,"Friday, 1 May, 9:00",-,\n'
        "Participant 901,Bob,bob@uni.example,Submitted,4.00,5.00,Yes,-,-,kept\n"
        "Participant 902,Eve,eve@uni.example,No submission,1.00,5.00,Yes,-,-,hers\n",
    )
    made = make(gather(course, "toy"), "moodle", given)
    assert importers.strictly(made.data)[0] == WORKSHEET.strip().split(",")
    taken = importers.moodle_worksheet(made.data, people("ada", "bob", "layla"))
    assert set(taken) == {"ada", "bob"}
    grade, feedback = taken["ada"]
    assert grade == "4.5"
    assert feedback.split("<br>") == [
        "1_sums/row_sums: 3 of 3", "1_sums/why: 1.5 of 2", "why: &lt;b&gt;Well&lt;/b&gt;", "argued &amp; short",
    ]  # fmt: skip
    assert taken["bob"] == ("", "kept")


def test_moodle_reads_the_plain_file_by_username_and_by_address(named):
    data = make(gather(named, "toy"), "moodle").data
    for key in ("Username", "Email address"):
        assert importers.moodle_gradebook(data, key, people(*NAMES), "toy") == dict.fromkeys(NAMES, "5")


def test_moodles_gradebook_export_is_filled_in_too(named, tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text(
        "First name,Last name,ID number,Institution,Email address,Assignment: toy (Real),Last downloaded\n"
        "Ada,Lovelace,1,TU,ada@uni.example,-,17\nJörg,X,2,TU,JORG@uni.example,-,17\n",
        encoding="utf-8",
    )
    made = make(gather(named, "toy"), "moodle", path)
    rows = importers.strictly(made.data)
    assert rows[0] == ["First name", "Last name", "ID number", "Email address", "toy", "toy (feedback)"]
    assert [(row[2], row[4]) for row in rows[1:]] == [("1", "5"), ("2", "5")]
    assert len(made.left_out) == len(NAMES) - 2


CANVAS = "Student,ID,SIS Login ID,Section,Toy (1)\n"


@pytest.mark.parametrize(
    ("to", "table", "said"),
    [
        ("canvas", "Student,ID,SIS Login ID,Section,Sums (1),Loops (2)\nx,1,ada,A,,",
         "expected one assignment column called 'toy'"),
        ("canvas", "Student,ID,SIS Login ID,Section,Final Score (2026)\nx,1,ada,A,", "found none"),
        ("canvas", "Name,ID,SIS Login ID,Section,Toy (1)\nx,1,ada,A,", "expected Canvas's gradebook export"),
        ("canvas", "Student,ID,SIS Login ID,Toy (1)\nx,1,ada,A", "expected Canvas's gradebook export"),
        ("canvas", CANVAS + "    Points Possible,,,,100.00\n", "has 100 points in Canvas, but toy has 5"),
        ("moodle", WORKSHEET + "Participant 900,Ada,ada@uni.example,Submitted,,100.00,Yes,-,-,\n",
         "maximum grade is 100 in Moodle, but toy has 5"),
        ("moodle", "Identifier,Name,Bewertung\n1,2,3\n", "Grade is not there"),
        ("moodle", "Vorname,Nachname,Bewertung\n1,2,3\n", "expected Moodle's grading worksheet"),
    ],
)  # fmt: skip
def test_another_table_than_the_lms_wrote_is_refused(named, tmp_path, to, table, said):
    (tmp_path / "table.csv").write_text(table)
    with pytest.raises(GradingError, match=re.escape(said)):
        make(gather(named, "toy"), to, tmp_path / "table.csv")


def test_two_students_that_fit_one_line_are_both_left_out(course, tmp_path):
    for student in ("doe1", "doe2"):
        hand_in(course, student, cells=cells(3.0, 2.0))
        rename(course, student, "Jane", "Doe")
    given = canvas_export(tmp_path, '"Doe, Jane",1,,jdoe,A,,,,\n')
    made = make(gather(course, "toy"), "canvas", given)
    assert made.left_out == ("doe1", "doe2")
    assert len(importers.strictly(made.data)) == 2


def test_a_key_that_begins_a_formula_is_made_harmless_and_said(course):
    hand_in(course, "=ada", cells=cells(3.0, 2.0))
    made = make(gather(course, "toy"), "canvas")
    assert importers.strictly(made.data)[2][3] == "'=ada"
    assert any("match them by hand: =ada" in note for note in made.notes)


def test_a_template_goes_with_the_formats_that_fill_one(named, tmp_path):
    for to in FORMATS:
        if to not in WITH_TEMPLATE:
            with pytest.raises(GradingError, match="--columns goes with"):
                make(gather(named, "toy"), to, tmp_path / "x.csv")


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\rx", "\nx", " =1", '"=1"', "'=1", "＝1", "－a", "- point", "\0=1"],
)
def test_what_would_begin_a_formula_gets_an_apostrophe_and_gives_it_back(text):
    assert neutral(text).startswith("'")
    assert original(neutral(text)) == text


@pytest.mark.parametrize(
    ("text", "safe"),
    [("Doe;=1", "Doe;'=1"), ("a,+b", "a,'+b"), ('x; "=1', "x;' \"=1"), ("a\n=1", "a\n'=1"), ("a\t@b", "a\t'@b")],
)
def test_what_stands_after_a_separator_inside_a_cell_is_harmless_too(text, safe):
    assert neutral(text) == safe
    assert original(safe) == text


@pytest.mark.parametrize(
    "text", ["Ada", "O'Brien", "a=b", "Anne-Marie", "x@y.example", "", "-", "-3", "+4.5", "-3,5", "'tis", "50 %"]
)
def test_a_harmless_text_stays_as_it_is(text):
    assert neutral(text) == text == original(text)


def test_any_text_comes_back():
    chance = random.Random(7)
    for _ in range(5000):
        text = "".join(chance.choices("=+-@',;\t\r\n \"a1＝", k=chance.randint(0, 7)))
        assert original(neutral(text)) == text


def test_numbers_are_plain_numbers():
    assert [number(value) for value in (50.0, 2.5, 1 / 3, 0.0, -0.0, 1e-9, -1.25)] == [
        "50", "2.5", "0.333333", "0", "0", "0", "-1.25",
    ]  # fmt: skip
    assert (number(9.999, 2), number(100, 2), number(7, 0)) == ("10", "100", "7")


def test_a_strict_reader_gets_every_text_back():
    texts = ['a "quoted" one', "two\nlines", "comma, semicolon;", "ليلى", "Jörg", "", "\\", "''"]
    read = list(csv.reader(io.StringIO(to_csv([texts, [None, 1.5, "x"]]).decode(), newline=""), strict=True))
    assert read == [texts, ["", "1.5", "x"]]


def test_only_who_wants_a_byte_order_mark_gets_one():
    assert to_csv([["ä"]], bom=True).startswith(b"\xef\xbb\xbf")
    assert to_csv([["ä"]]) == "ä\r\n".encode()


@pytest.mark.parametrize("data", ["\ufeffA,B\r\nä,2\r\n\r\n", "A;B\nä;2\n", 'A,B\n"ä",2'])
def test_a_table_is_read_with_commas_or_semicolons_and_with_or_without_a_mark(tmp_path, data):
    (tmp_path / "given.csv").write_bytes(data.encode())
    sheet = read_sheet(tmp_path / "given.csv")
    assert (sheet.header, sheet.lines) == (("A", "B"), (("ä", "2"),))
    assert (sheet.column("b"), sheet.column("C")) == (1, None)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "expected a CSV file"),
        (b'A,B\n"open', "expected a CSV file"),
        (b"PK\x03\x04\0\0\xff\xfe", "not as a workbook"),
        (b"A,B\n1,2,3", "more cells"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_one_line(tmp_path, data, said):
    if data is not None:
        (tmp_path / "given.csv").write_bytes(data)
    with pytest.raises(GradingError, match=said) as caught:
        read_sheet(tmp_path / "given.csv")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        "A;B\r\nMüller;1\r\n".encode("cp1252"),
        "sep=;\r\nA;B\r\nMüller;1\r\n".encode("cp1252"),
        '"sep=,"\nA,B\nMüller,1\n'.encode("utf-8-sig"),
        "A\tB\r\nMüller\t1\r\n".encode("utf-16"),
        "A;B;\r\nMüller;1;\r\n".encode(),
        "A;B\r\nMüller;1;;\r\n".encode(),
    ],
)
def test_a_table_is_read_as_excel_writes_it(tmp_path, data):
    (tmp_path / "given.csv").write_bytes(data)
    sheet = read_sheet(tmp_path / "given.csv")
    assert (sheet.column("A"), sheet.column("B")) == (0, 1)
    assert [line[:2] for line in sheet.lines] == [("Müller", "1")]


def test_a_number_that_a_spreadsheet_wrote_is_the_number():
    assert {whole_number(text) for text in ("101.0", "101,00", "101")} == {"101"}
    assert [whole_number(text) for text in ("a.0", "1.5", "")] == ["a.0", "1.5", ""]
    for text in ("1.23457E+11", "1,2E+05"):
        with pytest.raises(ValueError, match="was shortened by a spreadsheet"):
            whole_number(text)
