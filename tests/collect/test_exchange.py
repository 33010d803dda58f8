"""When a submission came in: by nbgrader's exchange, by the instructor's lists; what is said is what is charged."""

import os
import shutil
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseAssignment, ExchangeSubmit

from autograder.assignment import exchange
from autograder.cli import main
from autograder.gradebook.late.times import read_times
from autograder.model.course import Course
from autograder.model.settings import read_config
from tests.exports.conftest import cells
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, build_course, hand_in
from tests.small_class import table

NOW = datetime.now(UTC)
FILE = f"{NOTEBOOK}.ipynb"


@pytest.fixture
def course(tmp_path):
    """A course with nbgrader's exchange in a temporary folder; every user is the same, as in containers."""
    made = build_course(tmp_path / "course")
    (tmp_path / "exchange").mkdir()
    os.chmod(tmp_path / "exchange", 0o777)
    with (made.root / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.Exchange.root = {str(tmp_path / 'exchange')!r}\nc.ExchangeCollect.check_owner = False\n")
    made = Course(made.root)
    transfer(made, ExchangeReleaseAssignment)
    return made


def transfer(course, action, student="*", **settings):
    config = read_config(course.root)
    config.CourseDirectory.assignment_id, config.CourseDirectory.student_id = ASSIGNMENT, student
    directory = CourseDirectory(config=config)
    action(coursedir=directory, authenticator=Authenticator(config=config), config=config, **settings).start()


def submit(course, student, text="{}"):
    """``nbgrader submit``; returns the folder in the exchange."""
    home = course.root.parent / "home" / student
    (home / ASSIGNMENT).mkdir(parents=True, exist_ok=True)
    (home / ASSIGNMENT / FILE).write_text(text)
    before = set(exchange.inbound_folder(course).iterdir())
    transfer(course, ExchangeSubmit, student, assignment_dir=str(home), cache=str(home / "cache"))
    (made,) = set(exchange.inbound_folder(course).iterdir()) - before
    return made


def forge(folder, days):
    """What a student can do to a submission: any name, any file, any time of modification."""
    told = (NOW - timedelta(days=days)).strftime("%Y-%m-%d %H:%M:%S.%f UTC")
    student, assignment, _, rest = folder.name.split("+", 3)
    (folder / "timestamp.txt").write_text(told)
    for path in folder.iterdir():
        os.utime(path, (0, (NOW - timedelta(days=days)).timestamp()))
    forged = folder.rename(folder.with_name(f"{student}+{assignment}+{told}+{rest}"))
    os.utime(forged, (0, (NOW - timedelta(days=days)).timestamp()))


def deadline(course, days):
    when = (NOW + timedelta(days=days)).isoformat()
    (course.root / "late_policy.toml").write_text(f'[assignments.toy]\ndeadline = {when}\nper_day = "20%"\n')


def run(course, *words):
    return main(["--course", str(course.root), *map(str, words)])


def score(course, student="ada"):
    """Of 5 points: 4 after a day, 3 after two."""
    hand_in(course, student, cells=cells(3.0, 2.0))
    assert run(course, "export", ASSIGNMENT, "--to", "csv") == 0
    return float(table(course.root / "exports" / f"{ASSIGNMENT}.csv")[student]["score"])


def collect(course, by="autograder", code=0):
    """Take what lies in the exchange."""
    if by == "nbgrader":
        transfer(course, ExchangeCollect)
    else:
        assert run(course, "collect", ASSIGNMENT, "--from", "exchange", "--yes") == code


@pytest.mark.parametrize(("days", "points"), [(1, 5.0), (-0.5, 4.0), (-1.5, 3.0)])
@pytest.mark.parametrize("by", ["nbgrader", "autograder"])
def test_a_submission_through_the_exchange_is_charged_by_its_time(course, by, days, points):
    submit(course, "ada")
    collect(course, by)
    deadline(course, days)
    assert score(course) == points


@pytest.mark.parametrize("by", ["nbgrader", "autograder"])
def test_a_forged_time_does_not_count_and_is_said(course, by, capsys):
    forge(submit(course, "ada"), days=3)
    collect(course, by)
    deadline(course, -0.5)
    assert score(course) == 4.0
    said = capsys.readouterr()
    assert "was written at" in said.out + said.err and "the latter counts" in said.out + said.err


def test_work_put_into_a_submission_after_the_deadline_counts_from_then(course):
    folder = submit(course, "ada")
    before = exchange.last_change(folder)
    (folder / FILE).write_text("written later")
    os.utime(folder / FILE, (0, 0))
    after = exchange.last_change(folder)
    assert after > before
    assert exchange.Inbound(folder, "ada", after - timedelta(days=3), after).came_in == after


def test_a_timestamp_beside_a_submission_that_came_another_way_is_not_believed(course):
    folder = course.submitted("ada", ASSIGNMENT)
    folder.mkdir(parents=True)
    (folder / FILE).write_text("{}")
    (folder / "timestamp.txt").write_text("2020-01-01 00:00:00 UTC")
    (folder / "submission_secret.txt").write_text("copied")
    deadline(course, -0.5)
    assert score(course) == 5.0 and read_times(course.root, ASSIGNMENT) == {}


def test_the_secret_of_an_early_submission_gives_no_time_to_other_work(course):
    folder = submit(course, "ada")
    copied = shutil.copytree(folder, course.submitted("ada", ASSIGNMENT))
    (copied / FILE).write_text('{"written": "later"}')
    assert score(course) == 5.0 and read_times(course.root, ASSIGNMENT) == {}


def test_a_second_submission_has_its_own_time(course):
    submit(course, "ada", "first")
    transfer(course, ExchangeCollect)
    score(course)
    first = read_times(course.root, ASSIGNMENT)["ada"]
    submit(course, "ada", "second")
    transfer(course, ExchangeCollect, update=True)
    score(course)
    assert read_times(course.root, ASSIGNMENT)["ada"] > first


def test_the_exchange_gives_the_last_submission_of_each_and_what_feedback_needs(course):
    submit(course, "ada", "first")
    submit(course, "ada", "second")
    submit(course, "bob", "only")
    collect(course)
    folder = course.submitted("ada", ASSIGNMENT)
    assert (folder / FILE).read_text() == "second"
    assert {path.name for path in folder.iterdir()} == {FILE, "timestamp.txt", "submission_secret.txt"}
    assert course.students(ASSIGNMENT) == ["ada", "bob"]


def test_one_submission_that_cannot_be_read_does_not_stop_the_others(course, monkeypatch, capsys):
    shut = submit(course, "ada")
    submit(course, "bob")
    look = exchange.files_in

    def files_in(folder):
        if folder == shut:
            raise PermissionError(13, "Permission denied")
        return look(folder)

    monkeypatch.setattr(exchange, "files_in", files_in)
    collect(course, code=1)
    assert course.students(ASSIGNMENT) == ["bob"]
    assert f"ignored: {shut.name}: cannot be read: Permission denied" in capsys.readouterr().out


def test_a_link_in_the_exchange_is_not_followed(course):
    folder = submit(course, "ada")
    (folder / "2_other.ipynb").symlink_to("/etc/passwd")
    run(course, "collect", ASSIGNMENT, "--from", "exchange", "--yes")
    assert not (course.submitted("ada", ASSIGNMENT) / "2_other.ipynb").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("c.Exchange.root = ", "c.Exchange.root = '/nope' or ", "the exchange cannot be read: /nope"),
        ('course_id = "transformers"', 'course_id = ""', "the exchange needs c.CourseDirectory.course_id"),
        ("check_owner = False", "check_owner = True", "not to ada: c.ExchangeCollect.check_owner = False takes it"),
    ],
)
def test_an_exchange_that_is_not_there_or_holds_nobodys_own_is_one_line(course, old, new, said, capsys):
    submit(course, "ada")
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text().replace(old, new))
    collect(course, code=2)
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


# the instructor's own lists


def archive(path, files):
    with zipfile.ZipFile(path, "w") as made:
        for name, text in files.items():
            made.writestr(name, text)
    return path


def upload(course, files, *words, code=0):
    """Collect an archive with these files."""
    source = archive(course.root.parent / "c.zip", files)
    assert run(course, "collect", ASSIGNMENT, source, "--yes", *words) == code


def written(path, text):
    path.write_text(text)
    return path


def test_a_replaced_submission_does_not_inherit_the_first_ones_time(course, tmp_path, capsys):
    late = written(tmp_path / "times.csv", f"id,time\n101,{(NOW - timedelta(days=1)).isoformat()}\n")
    names = written(tmp_path / "names.csv", "id,student\n101,ada\n")
    upload(course, {f"a_101_1_{FILE}": "one"}, "--names", names, "--times", late)
    deadline(course, -2.5)
    assert score(course) == 3.0
    capsys.readouterr()
    upload(course, {f"a_101_1_{FILE}": "two"}, "--names", names, "--force")
    assert "1 without a recorded time: they count as on time" in capsys.readouterr().out
    assert score(course) == 5.0


def test_collecting_the_same_again_keeps_the_time_and_does_not_say_there_is_none(course, tmp_path, capsys):
    times = written(tmp_path / "times.csv", "id,time\n101,2026-11-20T09:00:00Z\n")
    upload(course, {f"a_101_1_{FILE}": "one"}, "--times", times)
    capsys.readouterr()
    upload(course, {f"a_101_1_{FILE}": "one"})
    assert "without a recorded time" not in capsys.readouterr().out
    assert len(read_times(course.root, ASSIGNMENT)) == 1


def test_the_zone_comes_from_the_late_policy(course, tmp_path):
    (course.root / "late_policy.toml").write_text('timezone = "Europe/Berlin"\n')
    times = written(tmp_path / "times.csv", "id;time\n101;2026-11-20 09:00\n")
    upload(course, {f"a_101_1_{FILE}": "one"}, "--times", times)
    assert [when.hour for when in read_times(course.root, ASSIGNMENT).values()] == [8]


def test_canvas_mark_of_lateness_is_said(course, capsys):
    upload(course, {f"ada_LATE_101_1_{FILE}": "one", f"bob_102_2_{FILE}": "two"})
    said = capsys.readouterr().out
    assert "2 without a recorded time" in said
    assert "among them late, says canvas, which does not say when: ada-101" in said


@pytest.mark.parametrize("name", ["1_sums (1).ipynb", "1_sums(2).ipynb", "1_sums+(1).ipynb", "1_sums_(1).ipynb"])
def test_a_file_that_was_downloaded_twice_is_the_file(course, name):
    upload(course, {f"ada_101_1_{name}": "one"})
    assert (course.submitted("ada-101", ASSIGNMENT) / FILE).read_text() == "one"


def test_a_nested_folder_is_said_where_it_was_found(course, tmp_path, capsys):
    inner = archive(tmp_path / "i.zip", {f"homework/final/{FILE}": "one"}).read_bytes()
    upload(course, {"ada_101_1_all.zip": inner})
    assert f"ada-101: {FILE} was found in homework/final/" in capsys.readouterr().out


@pytest.mark.parametrize("inside", [".autograder", "submitted"])
def test_a_folder_that_cannot_be_written_is_one_line(course, inside, capsys):
    (course.root / inside).write_text("a file in the folder's place")
    upload(course, {f"ada_101_1_{FILE}": "one"}, code=2)
    error = capsys.readouterr().err
    assert "cannot be written" in error and error.count("\n") == 1
    assert Path(course.root / inside).is_file()
