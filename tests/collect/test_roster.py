"""Who a person of an LMS is, and whose a file is: no file is ever given to anybody but its owner, and nothing is lost
without a word.
"""

import json
import re
import shutil
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook

from autograder.assignment.assignment import Assignment
from autograder.cli import main
from autograder.collect import clones, make_plan
from autograder.collect.lists import Person, UploadedFile, owners, read_names
from autograder.collect.whose import identify
from autograder.errors import GradingError
from autograder.gradebook.late.times import read_times
from autograder.gradebook.read import Student
from autograder.gradebook.roster import Roster, read_roster
from autograder.model.course import Course
from tests.collect.conftest import MOODLE, ONE, SHEET, TWO, inner, sent, submitted

WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum grade,Last modified (submission),Last modified (grade)\n"
)
ADA = Student("ada", "Lovelace", "Ada", "ada@uni.example")
BOB = Student("bob", "Byte", "Bob", "bob@uni.example")


def worksheet(people, encoding="utf-8-sig"):
    """Moodle's table. people: number -> (full name, address)"""
    lines = [f"Participant {number},{name},{email},,,5,-,-\n" for number, (name, email) in people.items()]
    return (WORKSHEET + "".join(lines)).encode(encoding)


def moodle(*people):
    """Everybody, a number and a name, sends a file with the number in it."""
    return {f"{name}_{number}_assignsubmission_file_/{ONE}": str(number).encode() for number, name in people}


def listed(tmp_path, table):
    (tmp_path / "table.csv").write_bytes(table)
    return read_names(tmp_path / "table.csv")


def enrol(course, *students):
    with Gradebook(course.db_url) as gradebook:
        for one in students:
            gradebook.add_student(one.id, first_name=one.first_name, last_name=one.last_name, email=one.email)


def whose(people, kind, students=(), table=None, numbers=None, **known):
    roster = Roster({one.id: one for one in students}, {key: frozenset({who}) for key, who in (numbers or {}).items()})
    found = identify(people, kind, Roster(roster.students, roster.numbers, **known), table)
    return dict(found.students), dict(found.refused)


ADA_1001, BOB_1002 = {1001: ("Ada Lovelace", "ada@uni.example")}, {1002: ("Bob Byte", "bob@uni.example")}


def test_moodles_worksheet_says_whose_number_is_whose(course, capsys):
    enrol(course, ADA, BOB)
    table = worksheet(ADA_1001 | {1002: ("Robert Byte", "bob@uni.example"), 1003: ("Eve", "")})
    assert sent(course, moodle((1001, "Ada Lovelace"), (1002, "Robert Byte")), names=table) == 0
    assert submitted(course) == {f"ada/{ONE}": b"1001", f"bob/{ONE}": b"1002"}
    assert "nothing from: Eve" in capsys.readouterr().out
    assert read_roster(course, "moodle", "distilbert").number_of == {"ada": "1001", "bob": "1002"}
    assert read_roster(course, "moodle", "another").number_of == {}


def test_the_worksheet_of_another_assignment_fits_nobody(course, capsys):
    enrol(course, ADA)
    files = moodle((2001, "Ada Lovelace"))
    assert sent(course, files, names=worksheet(ADA_1001)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "names.csv fits nobody" in line and "1001" in line and "2001" in line
    assert sent(course, files, names="id,student\n1001,ada\n") == 2
    times = "id,time\n1001,2026-11-21T18:00:00+01:00\n"
    assert sent(course, files, names=worksheet({2001: ADA_1001[1001]}), times=times) == 2
    assert "times.csv fits nobody" in capsys.readouterr().err
    assert submitted(course) == {}


def test_a_number_that_could_be_somebodys_on_the_roster_is_not_given_another_name(course, capsys):
    """The second assignment's zip without its worksheet: before, everybody became a second student, with exit 0."""
    enrol(course, ADA, BOB)
    assert sent(course, moodle((2001, "Ada Lovelace"), (2002, "Bob Byte"))) == 2
    assert "worksheet" in capsys.readouterr().err
    assert submitted(course) == {}


def test_people_without_a_roster_keep_their_ids_from_one_assignment_to_the_next():
    first, _ = whose([Person("1001", "Ada Lovelace")], "moodle")
    assert first == {"1001": "AdaLovelace-1001"}
    met = {"AdaLovelace-1001": frozenset({"Ada Lovelace"})}
    assert whose([Person("2001", "Ada Lovelace")], "moodle", names=met)[1].keys() == {"2001"}


def test_a_second_worksheet_finds_those_whom_the_first_brought(tmp_path):
    met = {"AdaLovelace-1001": frozenset({"Ada Lovelace"})}
    table = listed(tmp_path, worksheet({2001: ("Ada Lovelace", "a@x"), 2002: ("Bob Byte", "b@x")}))
    people = [Person("2001", "Ada Lovelace"), Person("2002", "Bob Byte")]
    students, refused = whose(people, "moodle", table=table, names=met)
    assert (students, refused) == ({"2001": "AdaLovelace-1001", "2002": "BobByte-2002"}, {})


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ({1: ("Ada Lovelace", ""), 2: ("Ada Lovelace", "")}, "two in the LMS's table"),
        ({1: ("Ada Lovelace", "mallory@uni.example")}, "has the address mallory@uni.example"),
        ({1: ("Someone", "ada@uni.example"), 2: ("Other", "ada@uni.example")}, "would both be ada"),
    ],
)
def test_a_person_who_only_calls_themself_so_is_nobody(tmp_path, lines, why):
    sheet = listed(tmp_path, worksheet(lines))
    people = [Person(str(number), name) for number, (name, _) in lines.items()]
    students, refused = whose(people, "moodle", [ADA], sheet)
    assert students == {} and all(why in reason for reason in refused.values())


def test_canvass_own_export_says_whose_number_is_whose(course):
    enrol(course, ADA, BOB)
    table = (
        "Student,ID,SIS User ID,SIS Login ID,Section,toy (7)\n    Points Possible,,,,,5\n"
        '"Lovelace, Ada",101,s1,ada@uni.example,A,\n"Byte, Bob",102,s2,bob,A,\n"Student, Test",109,,,A,\n'
    )
    files = {f"lovelaceada_101_9001_{ONE}": b"1", f"bytebob_102_9002_{ONE}": b"2"}
    assert sent(course, files, names=table) == 0
    assert submitted(course) == {f"ada/{ONE}": b"1", f"bob/{ONE}": b"2"}
    assert sent(course, {f"newname_101_9005_{ONE}": b"3"}, "--force") == 0  # the roster has the numbers now
    assert submitted(course)[f"ada/{ONE}"] == b"3"


ADAS_AND_ALANS = "id,student\n101,ada\n102,alan\n"


def test_a_list_of_the_instructors_fills_the_roster_and_is_needed_once(course, capsys):
    files = {f"lovelaceada_101_9001_{ONE}": b"1", f"eve_103_9002_{ONE}": b"3"}
    assert sent(course, files, names=ADAS_AND_ALANS) == 1
    assert "not on the list: eve-103" in capsys.readouterr().out
    with Gradebook(course.db_url) as gradebook:
        assert {one.id for one in gradebook.students} == {"ada", "alan"}
    assert sent(course, {f"turingalan_102_9003_{ONE}": b"2"}) == 0
    assert submitted(course) == {f"ada/{ONE}": b"1", f"alan/{ONE}": b"2", f"eve-103/{ONE}": b"3"}


def test_a_number_moves_to_the_student_whom_the_newer_list_names(course):
    files = {f"lovelaceada_101_9001_{ONE}": b"1"}
    assert sent(course, files) == 0
    for student in ("ada", "ada2"):
        assert sent(course, files, names=f"id,student\n101,{student}\n") == 0
        assert read_roster(course, "canvas", "distilbert").numbers["101"] == {student}
    assert json.loads((course.root / ".autograder" / "lms_ids" / "canvas.json").read_text()) == {"ada2": "101"}


def test_two_records_of_one_number_are_nobodys(course, capsys):
    with Gradebook(course.db_url) as gradebook:
        for student in ("ada", "bob"):
            gradebook.add_student(student, lms_user_id="101")
    assert sent(course, {f"x_101_9001_{ONE}": b"1"}) == 2
    assert "ada and bob both have the number 101" in capsys.readouterr().err


def test_a_user_at_a_forge_is_the_student_of_that_id_unless_a_list_says_otherwise(tmp_path):
    assert whose([Person("ada", "ada")], "github", [ADA])[0] == {"ada": "ada"}
    table = listed(tmp_path, b"id,student\ncountess,ada\n")
    students, refused = whose([Person("ada", "ada"), Person("countess", "countess")], "github", [ADA], table)
    assert students == {"countess": "ada"} and "ada" in refused


def test_erasing_a_student_takes_their_numbers_off_the_roster(course):
    files = {f"lovelaceada_101_9001_{ONE}": b"1", f"turingalan_102_9002_{ONE}": b"2"}
    assert sent(course, files, names=ADAS_AND_ALANS) == 0
    assert main(["--course-dir", str(course.root), "student", "erase", "ada", "--yes"]) == 0
    assert read_roster(course, "canvas", "distilbert").number_of == {"alan": "102"}
    assert not any("101" in path.read_text() for path in (course.root / ".autograder").rglob("*.json"))


def test_moodle_before_and_since_41_mixed_with_texts(course, capsys):
    """The folder lost its underscore in 4.1; a text typed into Moodle is named, and nobody's work is missed."""
    files = {
        f"{MOODLE.format(name='Ada Lovelace', number=1001)}/{ONE}": b"before",
        f"Grace Hopper_1002_assignsubmission_file/{ONE}": b"since",
        f"Bob Byte_1003_assignsubmission_file_{ONE}": b"flat",
        "Grace Hopper_1002_assignsubmission_onlinetext/onlinetext.html": b"typed",
    }
    assert sent(course, files) == 0
    expected = {"AdaLovelace-1001": b"before", "GraceHopper-1002": b"since", "BobByte-1003": b"flat"}
    assert submitted(course) == {f"{student}/{ONE}": data for student, data in expected.items()}
    assert "onlinetext.html is not asked for" in capsys.readouterr().out


@pytest.mark.parametrize("data", ["sep=;\r\nid;student\r\n101.0;ada\r\n", "id\tstudent\n101,0\tada\n"])
def test_a_list_of_excels_is_the_list(course, data):
    names = data.encode("utf-16" if "\t" in data else "cp1252")
    times = "id;time\n101.0;2026-11-21T18:00:00+01:00\n"
    assert sent(course, {f"x_101_9001_{ONE}": b"1"}, names=names, times=times) == 0
    assert set(submitted(course)) == {f"ada/{ONE}"} and set(read_times(course.root, "distilbert")) == {"ada"}


def test_a_list_of_another_assignment_that_has_the_same_numbers_gives_nobody_anothers_work(course, capsys):
    enrol(course, ADA, BOB)
    files = moodle((1002, "Ada Lovelace"), (1001, "Bob Byte"))
    assert sent(course, files, names=worksheet(ADA_1001 | BOB_1002)) == 2
    assert "is it another assignment's list?" in capsys.readouterr().err
    assert sent(course, files, names="id,student\n1001,ada\n1002,bob\n") == 2
    assert sent(course, files, names="id,student\n1002,ada\n1001,bob\n") == 0
    assert submitted(course) == {f"ada/{ONE}": b"1002", f"bob/{ONE}": b"1001"}


def test_where_moodle_hides_the_names_the_numbers_count(course):
    enrol(course, ADA, BOB)
    files = moodle((1002, "Teilnehmer"), (1001, "Teilnehmer"))
    assert sent(course, files, names="id,student\n1002,ada\n1001,bob\n") == 0
    assert submitted(course) == {f"ada/{ONE}": b"1002", f"bob/{ONE}": b"1001"}


def test_a_time_is_found_by_moodles_number_and_by_no_other_number(course):
    """Ada's ID number is Bob's participant number."""
    table = (
        "Identifier,Full name,ID number,Email address,Grade,Last modified (submission)\n"
        "Participant 1001,Ada Lovelace,1002,ada@x,,2026-11-20T09:00:00+01:00\n"
        "Participant 1002,Bob Byte,77,bob@x,,2026-11-22T09:00:00+01:00\n"
    )
    assert sent(course, moodle((1001, "Ada Lovelace"), (1002, "Bob Byte")), names=table, times=table) == 0
    assert {who: when.day for who, when in read_times(course.root, "distilbert").items()} == {"1002": 20, "77": 22}


def test_the_times_in_moodles_worksheet_are_kept_when_it_is_given_for_the_names_alone(course, capsys):
    table = (
        "Identifier,Full name,Status,Grade,Last modified (submission)\n"
        'Participant 1001,Ada Lovelace,"Submitted for grading - 2 days late",,2026-11-20T09:00:00{zone}\n'
    )
    files = moodle((1001, "Ada Lovelace"))
    assert sent(course, files, names=table.format(zone="+01:00")) == 0
    assert [when.day for when in read_times(course.root, "distilbert").values()] == [20]
    capsys.readouterr()
    assert sent(course, files, "--force", names=table.format(zone="")) == 0
    said = capsys.readouterr().err
    assert "the times in" in said and "were not kept" in said and "names no time zone" in said


EXPECTED = frozenset({ONE, TWO})
IDS = ["5", "17", "99", "101", "2001", "7000"]
MARKS = [
    *IDS, "_", "_", "_", "-", " ", ".", "+", "/", "\\", "LATE", "_LATE_", "mallory", "ada", "é", "(1)", "'", "&", "..",
    "_assignsubmission_file_", "_assignsubmission_file", "_17_assignsubmission_file_/", "_17_99_", "+distilbert+",
    "distilbert-", "distilbert-2-", f"-2{ONE}", ONE, TWO, ONE.upper(), ".ipynb", ".txt", ".zip", "=1+1", "$(id)", "%2f",
]  # fmt: skip
texts = st.lists(st.sampled_from(MARKS), min_size=1, max_size=7).map("".join)
ENDS = ["", ".ipynb", ".IPYNB", ".zip", ONE]
NAMES, EXAMPLES = 20, 110  # 2,200 names for each of two LMSs, 600 for git and for the exchange


def fuzzed(examples):
    quiet = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=quiet,
        phases=[Phase.generate],  # to shrink an example takes minutes, and the assertion names the entry
    )


class Uploads:
    """Entries of an archive, each with a content that says who its owner is."""

    def __init__(self):
        self.entries, self.owner = {}, {}

    def add(self, entry, owner):
        if entry in self.entries:
            return
        tag = f"{owner}:{len(self.entries)}".encode()
        self.owner[tag] = owner
        self.entries[entry] = inner({ONE: tag}) if entry.endswith(".zip") else tag


@pytest.fixture(scope="session")
def plan_of(released):
    """:func:`make_plan` for the assignment."""
    assignment, course = Assignment.open(released, SHEET), Course(released)

    def plan_of(source, folder, kind, course=course):
        return make_plan(course, assignment, source, Path(folder, "aside"), kind, None)

    return plan_of


def check(plan, uploads):
    """Everybody has their own; every entry was taken or is named."""
    said = [name for name, _ in plan.ignored]
    for one in plan.students:
        said += [*one.taken.values(), *one.notes, *one.left_out]
        for file in one.folder.iterdir():
            assert uploads.owner[file.read_bytes()] == one.person.id, (one.person, one.taken)
    text = "\n".join(said)
    assert len({one.student for one in plan.students}) == len(plan.students)
    for entry in uploads.entries:
        assert entry in text or ascii(entry)[1:-1][:200] in text, entry


def planned(plan_of, uploads, kind):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "submissions.zip")
        with zipfile.ZipFile(source, "w") as made:
            for name, data in uploads.entries.items():
                made.writestr(name, data)
        try:
            check(plan_of(source, folder, kind), uploads)
        except GradingError as error:
            assert "holds no submission that can be told" in str(error)  # one line names one of them


def canvas_name(name, late, user, attachment, display):
    """As Canvas's content_zipper.rb writes it."""
    name = re.sub(r"_(\d+)_", r"\1", name).lower()
    known = re.sub(r"\W", "", "_".join([name, *(["LATE"] if late else []), user]))
    return f"{known}_{attachment}_" + re.sub(r'[\x00/\\:*?"<>|]+', "_", display)


uploads_ = st.lists(
    st.tuples(st.sampled_from(IDS), st.booleans(), texts, st.sampled_from(ENDS)), min_size=NAMES, max_size=NAMES
)
people_ = st.tuples(*[texts] * len(IDS))


@fuzzed(EXAMPLES)
@given(people_, uploads_)
def test_canvas_gives_nobody_what_is_anothers(plan_of, names, files):
    uploads = Uploads()
    called = dict(zip(IDS, names, strict=True))
    for number, (user, late, display, end) in enumerate(files):
        uploads.add(canvas_name(called[user], late, user, 9000 + number, display + end), user)
    planned(plan_of, uploads, "canvas")


def moodle_clean(text):
    """As Moodle's clean_filename does."""
    return re.sub(r"\.\.+", "", re.sub(r"[\x00-\x1f&<>\"`|':\\/]", "", text)) or "x"


def moodle_name(name, user, form, display):
    start = moodle_clean(f"{name.replace('_', ' ')}_{user}_assignsubmission_file")
    if form == "flat":
        return moodle_clean(f"{start}_{display}")
    return start + ("_/" if form == "folder" else "/") + moodle_clean(display)


@fuzzed(EXAMPLES)
@given(people_, uploads_, st.lists(st.sampled_from(["flat", "folder", "since 4.1"]), min_size=NAMES, max_size=NAMES))
def test_moodle_gives_nobody_what_is_anothers(plan_of, names, files, forms):
    uploads = Uploads()
    called = dict(zip(IDS, names, strict=True))
    for (user, _, display, end), form in zip(files, forms, strict=True):
        uploads.add(moodle_name(called[user], user, form, display + end), user)
    planned(plan_of, uploads, "moodle")


@fuzzed(50)
@given(st.sets(texts.map(lambda text: re.sub(r"[/\x00]", "", text)[:80] or "x"), min_size=12, max_size=12))
def test_a_clone_is_its_users_and_nobody_elses(plan_of, users):
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        uploads = Uploads()
        for user in users:
            (Path(folder, "clones", f"{SHEET}-{user}") / ".git").mkdir(parents=True)
            uploads.owner[user.encode()] = user
            uploads.entries[f"{SHEET}-{user}"] = b""
        patch.setattr(clones, "blobs", lambda path: [clones.Blob(ONE, "o", 3)])
        patch.setattr(clones, "content", lambda path, blob, limit: path.name.removeprefix(f"{SHEET}-").encode())
        plan = plan_of(Path(folder, "clones"), folder, "github")
        for one in plan.students:
            one.notes.append(f"{SHEET}-{one.person.id}")
        check(plan, uploads)


@fuzzed(50)
@given(st.sets(texts.map(lambda text: re.sub(r"[/\x00]", "", text)[:80] or "x"), min_size=12, max_size=12))
def test_the_exchange_gives_nobody_what_is_anothers(released, plan_of, users):
    with tempfile.TemporaryDirectory() as folder:
        course = exchange_course(released, Path(folder))
        uploads = Uploads()
        for number, user in enumerate(sorted(users)):
            place = Path(folder, "exchange", "kit", "inbound", f"{user}+{SHEET}+2026-11-20 10:00:00.0 UTC+{number}")
            place.mkdir(parents=True)
            (place / ONE).write_bytes(user.encode())
            uploads.owner[user.encode()] = user
            uploads.entries[place.name] = b""
        plan = plan_of(course, folder, "exchange", course)
        for one in plan.students:
            one.notes += [name for name in uploads.entries if name.startswith(f"{one.person.id}+{SHEET}+2026")]
        check(plan, uploads)


def exchange_course(released, folder):
    """A course whose exchange lies in the folder, where everybody is one user."""
    root = folder / "course"
    (root / "source").parent.mkdir(parents=True)
    (root / "source").symlink_to(Path(released) / "source")
    (root / "nbgrader_config.py").write_text(
        f'c = get_config()\nc.CourseDirectory.course_id = "kit"\nc.Exchange.root = {str(folder / "exchange")!r}\n'
        "c.ExchangeCollect.check_owner = False\n"
    )
    return Course(root)


def test_a_file_named_after_another_person_is_nobodys(course, capsys):
    """User 5 uploads a file called ``17_99_1_embedding-9.ipynb``."""
    files = {f"ada_17_9001_{ONE}": b"17's own", "mallory_5_100_17_99_1_embedding-9.ipynb": b"mallory's"}
    assert sent(course, files) == 1
    assert submitted(course) == {f"ada-17/{ONE}": b"17's own"}
    assert "mallory_5_100_17_99_1_embedding-9.ipynb" in capsys.readouterr().out
    files = {
        f"Ada_17_assignsubmission_file_/{ONE}": b"17's own",
        f"Mallory_5_assignsubmission_file_/x_17_assignsubmission_file_{ONE}": b"mallory's",
    }
    shutil.rmtree(course.root / "submitted")
    sent(course, files)
    assert submitted(course)[f"Ada-17/{ONE}"] == b"17's own"
    assert all(data == b"17's own" for name, data in submitted(course).items() if name.startswith("Ada"))


def test_a_number_that_comes_under_two_names_is_nobodys(course, capsys):
    files = {f"ada_17_9001_{ONE}": b"1", f"mallory_17_9002_{TWO}": b"2", f"eve_18_9003_{ONE}": b"3"}
    assert sent(course, files) == 1
    assert submitted(course) == {f"eve-18/{ONE}": b"3"}
    assert capsys.readouterr().out.count("17 comes under two names") == 2


def test_a_mark_of_lateness_is_the_lmss_own():
    path = f"ada_LATE_17_9001_{ONE}"
    found = owners("canvas", [path, f"bob_18_9002_x_LATE_17_9_{ONE}"], EXPECTED)
    assert isinstance(found[path], UploadedFile) and found[path].late
    assert not isinstance(found[f"bob_18_9002_x_LATE_17_9_{ONE}"], UploadedFile)


@pytest.mark.parametrize(
    "name",
    [ONE.upper(), f"{ONE}.txt", f"{ONE}.json", "1_embedding.json", "1_embedding (2).ipynb", f"{ONE} ", f"{ONE}.TXT"],
)  # fmt: skip
def test_what_browsers_and_editors_make_of_a_name_is_the_notebook(course, name):
    assert sent(course, {f"ada_101_9001_{name}": b"x"}) == 0
    assert submitted(course) == {f"ada-101/{ONE}": b"x"}


def test_of_two_files_for_one_notebook_the_well_named_counts_and_the_other_is_named(course, capsys):
    files = {f"ada_101_9001_{ONE.upper()}": b"upper", f"ada_101_9002_{ONE}": b"right"}
    assert sent(course, files) == 1
    assert submitted(course) == {f"ada-101/{ONE}": b"right"}
    assert "9001_1_EMBEDDING.IPYNB was left out" in " ".join(capsys.readouterr().out.split())


def test_a_zip_of_powershell_has_backslashes(course):
    info = zipfile.ZipInfo()
    info.filename, info.create_system = f"hw\\{ONE}", 0
    upload = inner([(info, b"x")])
    assert b"\\" in upload
    assert sent(course, {"ada_101_9001_hw.zip": upload}) == 0
    assert submitted(course) == {f"ada-101/{ONE}": b"x"}


def test_the_exchange_takes_every_user_or_names_them(released, plan_of, tmp_path):
    course = exchange_course(released, tmp_path)
    users = ["DOM\\ada", "o'neil", "Ada L", "a&b", "ada+test", "x@uni.edu", "müller", "-rf", ".hidden", "a\x07b"]
    inbound = tmp_path / "exchange" / "kit" / "inbound"
    for user in users:
        (inbound / f"{user}+{SHEET}+2026-11-20 10:00:00.0 UTC+abc").mkdir(parents=True)
        (inbound / f"{user}+{SHEET}+2026-11-20 10:00:00.0 UTC+abc" / ONE).write_bytes(user.encode())
    (inbound / f"link+{SHEET}+2026-11-20 10:00:00.0 UTC+abc").symlink_to(tmp_path)
    plan = plan_of(course, tmp_path, "exchange", course)
    assert {one.student for one in plan.students} == set(users[:7])
    assert all((one.folder / ONE).read_bytes() == one.student.encode() for one in plan.students)
    assert len(plan.ignored) == 4 and all(reason for _, reason in plan.ignored)


def test_a_list_takes_every_name_that_can_be_a_folder(course):
    names = "id,student\n1,o'neil\n2,DOM\\ada\n3,Ada L\n"
    files = {f"a_{number}_900{number}_{ONE}": b"x" for number in (1, 2, 3)}
    assert sent(course, files, names=names) == 0
    assert set(submitted(course)) == {f"{name}/{ONE}" for name in ("o'neil", "DOM\\ada", "Ada L")}
