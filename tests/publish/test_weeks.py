"""Publishing week by week: what is due, what stays, what was corrected, and that students get the correction."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, date, datetime

import nbformat
import pytest

import course as library
from autograder.cli import main
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.publish.publish import due, publish
from autograder.release.generate import generate
from tests.feedback.toy import ROOT, build_course


@pytest.fixture
def course(tmp_path):
    """The small assignment, with nothing beside it."""
    built = build_course(tmp_path / "course")
    (built.root / "course.toml").write_text('title = "Sums"\n')
    (built.root / "nbgrader_config.py").write_bytes((ROOT / "nbgrader_config.py").read_bytes())
    for name in ("source", "release"):
        notebook = built.root / name / "toy" / "1_sums.ipynb"
        notebook.write_text(notebook.read_text())
    return Course(built.root)


def dated(course, **dates):
    lines = "\n".join(f"{name} = {when}" for name, when in dates.items())
    (course.root / "course.toml").write_text(f'title = "Sums"\n[dates]\n{lines}\n')
    return Course(course.root)


def correct(course, old, new):
    path = course.root / "source" / "toy" / "1_sums.ipynb"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    shutil.rmtree(course.root / "release" / "toy")
    generate(Course(course.root), "toy")


def judged(monkeypatch):
    """The small assignment has no stored reference; that is not what is tested here."""
    monkeypatch.setattr("autograder.publish.publish.require_judgeable", lambda sheet: None)


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
    course, tmp_path, monkeypatch, capsys
):
    judged(monkeypatch)
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


def test_a_note_that_leaks_stops_it(course, tmp_path, monkeypatch):
    judged(monkeypatch)
    out = tmp_path / "students"
    publish(course.root, out)
    before = (out / "release" / "toy" / "1_sums.ipynb").read_bytes()
    correct(course, "Why is that so?", "Why?")
    with pytest.raises(GradingError, match="would leak"):
        publish(course.root, out, note="Because the softmax normalises each row, says the model answer.")
    assert (out / "release" / "toy" / "1_sums.ipynb").read_bytes() == before


def test_a_record_that_was_damaged_stops_it(course, tmp_path, monkeypatch):
    judged(monkeypatch)
    publish(course.root, tmp_path / "out")
    (tmp_path / "out" / ".published_cells.json").write_text(json.dumps({"texts": {}}))
    with pytest.raises(GradingError, match=r"\.published_cells\.json cannot be read"):
        publish(course.root, tmp_path / "out")
