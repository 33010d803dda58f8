"""Whose a file is: names made of other people's numbers, separators and endings, as each LMS would write them.

No file is ever given to anybody but its owner, and nothing is lost without a word.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from autograder.assignment.assignment import Assignment
from autograder.collect import clones, make_plan
from autograder.collect.people import UploadedFile, owners
from autograder.errors import GradingError
from autograder.model.course import Course
from tests.collect.uploads import ONE, SHEET, TWO, collect, inner, packed, submitted

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
def test_d1_canvas_gives_nobody_what_is_anothers(plan_of, names, files):
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
def test_d1_moodle_gives_nobody_what_is_anothers(plan_of, names, files, forms):
    uploads = Uploads()
    called = dict(zip(IDS, names, strict=True))
    for (user, _, display, end), form in zip(files, forms, strict=True):
        uploads.add(moodle_name(called[user], user, form, display + end), user)
    planned(plan_of, uploads, "moodle")


@fuzzed(50)
@given(st.sets(texts.map(lambda text: re.sub(r"[/\x00]", "", text)[:80] or "x"), min_size=12, max_size=12))
def test_d1_a_clone_is_its_users_and_nobody_elses(plan_of, users):
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
def test_d1_the_exchange_gives_nobody_what_is_anothers(released, plan_of, users):
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


def test_d1_a_file_named_after_another_person_is_nobodys(course, tmp_path, capsys):
    """User 5 uploads a file called ``17_99_1_embedding-9.ipynb``."""
    files = {f"ada_17_9001_{ONE}": b"17's own", "mallory_5_100_17_99_1_embedding-9.ipynb": b"mallory's"}
    assert collect(course, packed(tmp_path / "c.zip", files)) == 1
    assert submitted(course) == {f"ada-17/{ONE}": b"17's own"}
    assert "mallory_5_100_17_99_1_embedding-9.ipynb" in capsys.readouterr().out
    files = {
        f"Ada_17_assignsubmission_file_/{ONE}": b"17's own",
        f"Mallory_5_assignsubmission_file_/x_17_assignsubmission_file_{ONE}": b"mallory's",
    }
    shutil.rmtree(course.root / "submitted")
    collect(course, packed(tmp_path / "m.zip", files))
    assert submitted(course)[f"Ada-17/{ONE}"] == b"17's own"
    assert all(data == b"17's own" for name, data in submitted(course).items() if name.startswith("Ada"))


def test_d1_a_number_that_comes_under_two_names_is_nobodys(course, tmp_path, capsys):
    files = {f"ada_17_9001_{ONE}": b"1", f"mallory_17_9002_{TWO}": b"2", f"eve_18_9003_{ONE}": b"3"}
    assert collect(course, packed(tmp_path / "c.zip", files)) == 1
    assert submitted(course) == {f"eve-18/{ONE}": b"3"}
    assert capsys.readouterr().out.count("17 comes under two names") == 2


def test_d1_a_mark_of_lateness_is_the_lmss_own():
    path = f"ada_LATE_17_9001_{ONE}"
    found = owners("canvas", [path, f"bob_18_9002_x_LATE_17_9_{ONE}"], EXPECTED)
    assert isinstance(found[path], UploadedFile) and found[path].late
    assert not isinstance(found[f"bob_18_9002_x_LATE_17_9_{ONE}"], UploadedFile)


@pytest.mark.parametrize(
    "name",
    [ONE.upper(), f"{ONE}.txt", f"{ONE}.json", "1_embedding.json", "1_embedding (2).ipynb", f"{ONE} ", f"{ONE}.TXT"],
)  # fmt: skip
def test_d7_what_browsers_and_editors_make_of_a_name_is_the_notebook(course, tmp_path, name):
    assert collect(course, packed(tmp_path / "c.zip", {f"ada_101_9001_{name}": b"x"})) == 0
    assert submitted(course) == {f"ada-101/{ONE}": b"x"}


def test_d7_of_two_files_for_one_notebook_the_well_named_counts_and_the_other_is_named(course, tmp_path, capsys):
    files = {f"ada_101_9001_{ONE.upper()}": b"upper", f"ada_101_9002_{ONE}": b"right"}
    assert collect(course, packed(tmp_path / "c.zip", files)) == 1
    assert submitted(course) == {f"ada-101/{ONE}": b"right"}
    assert "9001_1_EMBEDDING.IPYNB was left out" in " ".join(capsys.readouterr().out.split())


def test_d7_a_zip_of_powershell_has_backslashes(course, tmp_path):
    info = zipfile.ZipInfo()
    info.filename, info.create_system = f"hw\\{ONE}", 0
    upload = inner([(info, b"x")])
    assert b"\\" in upload
    assert collect(course, packed(tmp_path / "c.zip", {"ada_101_9001_hw.zip": upload})) == 0
    assert submitted(course) == {f"ada-101/{ONE}": b"x"}


def test_d4_the_exchange_takes_every_user_or_names_them(released, plan_of, tmp_path):
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


def test_d4_a_list_takes_every_name_that_can_be_a_folder(course, tmp_path):
    (tmp_path / "n.csv").write_text("id,student\n1,o'neil\n2,DOM\\ada\n3,Ada L\n")
    files = {f"a_{number}_900{number}_{ONE}": b"x" for number in (1, 2, 3)}
    assert collect(course, packed(tmp_path / "c.zip", files), "--names", str(tmp_path / "n.csv")) == 0
    assert set(submitted(course)) == {f"{name}/{ONE}" for name in ("o'neil", "DOM\\ada", "Ada L")}
