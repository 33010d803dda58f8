"""What is published when: week by week, with corrections; solutions only when nobody can hand in any more."""

import json
import shutil
from datetime import UTC, date, datetime, timedelta

import nbformat
import pytest
from nbformat.v4 import new_notebook, new_output

import course as library
from autograder.assignment.assignment import Assignment
from autograder.cli import main
from autograder.errors import GradingError
from autograder.gradebook.late.policy import LatePolicy, Rules, last_moment
from autograder.model import cells
from autograder.model.course import Course
from autograder.publish.publish import due, publish
from autograder.release.as_submitted import without_markers
from autograder.release.solved_run import keep, write_solutions
from tests.grading import ROOT
from tests.publish.conftest import release_anew


def dated(course, **dates):
    lines = "\n".join(f"{name} = {when}" for name, when in dates.items())
    (course.root / "course.toml").write_text(f'title = "Sums"\n[dates]\n{lines}\n')
    return Course(course.root)


def correct(course, old, new):
    path = course.root / "source" / "toy" / "1_sums.ipynb"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    release_anew(course.root)


def test_what_is_due_is_decided_by_the_dates(course):
    shutil.copytree(course.root / "source" / "toy", course.root / "source" / "later")
    shutil.copytree(course.root / "source" / "toy", course.root / "source" / "undated")
    two = dated(course, toy="2027-01-15", later="2027-02-01T08:00:00+01:00")
    found = due(two, [], datetime(2027, 1, 15, tzinfo=UTC))
    assert found.chosen == ("toy",) and [name for name, _ in found.later] == ["later"] and found.undated == ("undated",)
    assert due(two, [], datetime(2027, 2, 1, 7, tzinfo=UTC)).chosen == ("later", "toy")
    assert due(two, ["undated"], datetime(2027, 1, 1, tzinfo=UTC)).chosen == ("undated",)
    with pytest.raises(GradingError, match=r"not due yet: later \(2027-02-01"):
        due(two, ["later"], datetime(2027, 1, 15, tzinfo=UTC))
    with pytest.raises(GradingError, match="nothing is due yet: the first is toy"):
        due(two, [], datetime(2027, 1, 14, tzinfo=UTC))


def test_without_dates_everything_is_published_as_before(course):
    assert due(course, []).chosen == ()
    with pytest.raises(GradingError, match=r"\[dates\]"):
        due(course, [], datetime(2027, 1, 14, tzinfo=UTC))


@pytest.mark.parametrize("line", ['toy = "soon"', "toy = 12", "tyo = 2027-01-15"])
def test_a_wrong_date_is_one_line(course, tmp_path, capsys, line):
    (course.root / "course.toml").write_text(f"[dates]\n{line}\n")
    assert main(["--course-dir", str(course.root), "publish", str(tmp_path / "out")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_before_it_is_due(course, tmp_path, capsys):
    dated(course, toy="2999-01-15")
    assert main(["--course-dir", str(course.root), "publish", str(tmp_path / "out")]) == 2
    assert "nothing is due yet" in capsys.readouterr().err
    assert main(["--course-dir", str(course.root), "publish", str(tmp_path / "out"), "--until", "tomorrow"]) == 2
    assert not (tmp_path / "out").exists()


def test_a_correction_is_noted_on_top_and_in_the_changelog_and_reaches_a_half_filled_notebook(
    course, judged, tmp_path, capsys
):
    out, mine = tmp_path / "students", tmp_path / "mine"
    publish(course.root, out)
    assert not (out / "CHANGELOG.md").exists()
    place = out / "release" / "toy" / "1_sums.ipynb"
    assert place.read_bytes() == (course.root / "release" / "toy" / "1_sums.ipynb").read_bytes()
    mine.mkdir()
    own = nbformat.read(place, as_version=4)
    answer = next(cell for cell in own.cells if "def row_sums" in cell.source)
    answer.source = "def row_sums(x):\n    return x.sum(-1)  # mine"
    nbformat.write(own, mine / "1_sums.ipynb")

    correct(course, "Why is that so?", "Why is that so? Two sentences.")
    (out / "CHANGELOG.md").write_text("Week 1: welcome.\n")
    done = publish(course.root, out, note="The question says how long.", today=date(2027, 1, 20))
    ((one,),) = [done.corrections]
    assert one.notebook == "release/toy/1_sums.ipynb" and len(one.cells) == 1
    top = nbformat.read(place, as_version=4).cells[0]
    assert "2027-01-20: The question says how long." in top.source and 'course.update("1_sums.ipynb")' in top.source
    changes = (out / "CHANGELOG.md").read_text()
    assert "## 2027-01-20" in changes and "The question says how long." in changes and "Week 1: welcome." in changes

    first = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert publish(course.root, out, today=date(2027, 1, 21)).corrections == ()
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == first

    library.update(mine / "1_sums.ipynb", source=str(out), write=True)
    texts = [cell.source for cell in nbformat.read(mine / "1_sums.ipynb", as_version=4).cells]
    assert "def row_sums(x):\n    return x.sum(-1)  # mine" in texts
    assert "Why is that so? Two sentences." in texts and "Why is that so?" not in texts
    assert top.source in texts


def test_a_note_that_leaks_stops_it(course, judged, tmp_path):
    out = tmp_path / "students"
    publish(course.root, out)
    before = (out / "release" / "toy" / "1_sums.ipynb").read_bytes()
    correct(course, "Why is that so?", "Why?")
    with pytest.raises(GradingError, match="would leak"):
        publish(course.root, out, note="Because the softmax normalises each row, says the model answer.")
    assert (out / "release" / "toy" / "1_sums.ipynb").read_bytes() == before


def test_a_record_that_was_damaged_stops_it(course, judged, tmp_path):
    publish(course.root, tmp_path / "out")
    (tmp_path / "out" / ".published_cells.json").write_text(json.dumps({"texts": {}}))
    with pytest.raises(GradingError, match=r"\.published_cells\.json cannot be read"):
        publish(course.root, tmp_path / "out")


DUE = datetime(2027, 1, 15, 12, tzinfo=UTC)


DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("rules", "free", "last"),
    [
        ({"hard_deadline": DUE + DAY}, 0, DUE + DAY),
        ({"hard_deadline": DUE + DAY, "extensions": {"ada": 3}}, 0, DUE + 4 * DAY),
        ({"hard_deadline": DUE, "grace": timedelta(minutes=10)}, 0, DUE + timedelta(minutes=10)),
        ({"per_day_share": 0.3}, 2, DUE + 6 * DAY),
        ({"per_day_share": 0.5, "extensions": {"ada": 7}}, 0, DUE + 9 * DAY),
        ({"per_day_points": 1.0}, 0, None),
        ({}, 0, None),
    ],
)
def test_the_last_moment_counts_extensions_grace_and_late_days(rules, free, last):
    given = {student: timedelta(days=days) for student, days in rules.get("extensions", {}).items()}
    policy = LatePolicy({"toy": Rules(DUE, **{**rules, "extensions": given})}, free)
    assert last_moment(policy, "toy") == last
    assert last_moment(policy, "other") is None


@pytest.fixture
def published(course, tmp_path):
    """The course's folder, whose students have the small assignment."""
    shutil.copytree(course.root / "release", tmp_path / "students" / "release")
    return course.root


def publish_solutions(root, *words):
    students = str(root.parent / "students")
    return main(["--course-dir", str(root), "publish", students, "--solutions", "toy", *words])


@pytest.mark.parametrize(("deadline", "code"), [("2001-01-01", 0), ("2999-01-01", 2), (None, 2)])
def test_solutions_are_refused_while_somebody_can_hand_in(published, capsys, deadline, code):
    if deadline:
        moment = f"{deadline}T12:00:00Z"
        (published / "late_policy.toml").write_text(
            f"[assignments.toy]\ndeadline = {moment}\nhard_deadline = {moment}\n"
        )
    assert publish_solutions(published) == code
    written = published.parent / "students" / "solutions" / "toy" / "1_sums.ipynb"
    assert written.exists() == (code == 0)
    if code:
        assert "--yes" in capsys.readouterr().err
        assert publish_solutions(published, "--yes") == 0 and written.exists()


def test_the_real_solutions_hold_answers_and_neither_hidden_tests_nor_mark_schemes(tmp_path):
    shutil.copytree(ROOT / "release" / "numpy_attention", tmp_path / "release" / "numpy_attention")
    files, _ = write_solutions(Course(ROOT), tmp_path, "numpy_attention")
    text = "".join((tmp_path / name).read_text() for name in files)
    source = nbformat.read(ROOT / "source" / "numpy_attention" / "1_attention.ipynb", as_version=4)
    answers = [without_markers(cell.source).strip() for cell in source.cells if cells.is_solution(cell)]
    solved = nbformat.read(tmp_path / "solutions" / "numpy_attention" / "1_attention.ipynb", as_version=4)
    assert answers and {*answers} <= {cell.source for cell in solved.cells}
    for word in ("HIDDEN TESTS", "MARK SCHEME", "BEGIN SOLUTION", "from autograder import reference"):
        assert word not in text
    assert "BEGIN MARK SCHEME" in (ROOT / "source" / "numpy_attention" / "2_finetuning.ipynb").read_text()


def test_solutions_show_what_they_showed_when_they_were_released(published, capsys):
    assert (
        publish_solutions(published, "--yes") == 0
        and "Without outputs: 'autograder release toy'" in capsys.readouterr().out
    )
    opened = Assignment.open(Course(published), "toy")
    (cell,) = [one for one in opened.source["1_sums"].cells if cells.grade_id(one) == "row_sums"]
    cell.outputs = [new_output("stream", text="✓")]
    keep(Course(published), opened, {"1_sums": new_notebook(cells=[cell])})
    assert publish_solutions(published, "--yes") == 0 and "Without outputs" not in capsys.readouterr().out
    solved = nbformat.read(published.parent / "students" / "solutions" / "toy" / "1_sums.ipynb", as_version=4)
    shown = {cells.grade_id(one): one.outputs[0].text for one in solved.cells if one.get("outputs")}
    assert shown == {"row_sums": "✓"}


def test_solutions_go_only_where_the_assignment_was_published(tmp_path):
    with pytest.raises(GradingError, match="was not published into"):
        write_solutions(Course(ROOT), tmp_path, "numpy_attention")
    with pytest.raises(GradingError, match="unknown assignment 'numpy_atention'"):
        write_solutions(Course(ROOT), tmp_path, "numpy_atention")
