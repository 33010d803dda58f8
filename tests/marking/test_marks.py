"""Marks: in the gradebook at once as the formgrader stores them, taken back, and refused where anything has changed."""

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import text

from autograder import cli
from autograder.errors import GradingError
from autograder.gradebook.gather import gather_one
from autograder.gradebook.marks import store_marks, undo_marks
from autograder.gradebook.read import EARLIER
from autograder.gradebook.roster import pseudonym
from autograder.marking import desk as desk_module
from autograder.marking.answers import ClassAnswer, change_of
from autograder.marking.desk import Claims, Desk, Marker, member
from autograder.model.course import Course
from autograder.pipeline.rebuild import SubmittedCell
from autograder.release.generate import generate
from tests.grading import ROOT
from tests.marking.classroom import ASSIGNMENT, NOTEBOOK, drawn_answers, gradebook_of, hand_in, held, make_course
from tests.marking.conftest import RIGHT, WRONG
from tests.pipeline.test_postgresql import server  # noqa: F401

KEY = (NOTEBOOK, "scale")
REST = {"padding": "Pads.", "cls": "It sums up.", "figure": "plt.plot(w)"}


def answers(desk: Desk) -> dict[str, ClassAnswer]:
    return {one.student: one for one in desk.read().answers[KEY]}


def mark(desk: Desk, marker: Marker, points: float, comment: str = "", *students: str, alone: bool = False) -> None:
    found = answers(desk)
    desk.mark(marker, KEY, [member(found[student]) for student in students], points, comment, alone)


def dump(course: Course) -> list[tuple[object, ...]]:
    """Every table that marks are in, but for the ids, which are random."""
    with Gradebook(course.db_url) as gradebook:
        said = gradebook.db.execute(text(
            "select s.student_id, b.name, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade, "
            "c.auto_comment, c.manual_comment from grade g join base_cell b on b.id = g.cell_id "
            "join submitted_notebook n on n.id = g.notebook_id join submitted_assignment s on s.id = n.assignment_id "
            "left join comment c on c.cell_id = b.id and c.notebook_id = n.id order by 1, 2"
        ))  # fmt: skip
        return [tuple(row) for row in said]


def as_the_formgrader_does(course: Course, student: str, points: float, comment: str | None) -> None:
    """What nbgrader's ``GradeHandler`` and ``CommentHandler`` do with what its page sends."""
    with gradebook_of(course) as gradebook:
        place = ("scale", NOTEBOOK, ASSIGNMENT, student)
        grade = gradebook.find_grade(*place)
        grade.manual_score, grade.needs_manual_grade = points, False
        if comment is not None:
            gradebook.find_comment(*place).manual_comment = comment


def test_the_gradebook_is_what_the_formgrader_would_have_written(course: Course, desk: Desk) -> None:
    before = dump(course)
    lin = Marker("lin")
    mark(desk, lin, 1.5, "Say why.\n\nAn example?", "ada", "bob")
    mark(desk, lin, 0.0, "", "dan")
    by_page = dump(course)
    while desk.log.last_click("lin"):
        desk.undo(lin)
    assert dump(course) == before != by_page
    for student in ("ada", "bob"):
        as_the_formgrader_does(course, student, 1.5, "Say why.\n\nAn example?")
    as_the_formgrader_does(course, "dan", 0.0, None)
    assert dump(course) == by_page


def test_feedback_report_export_and_table_show_the_mark(course: Course, desk: Desk) -> None:
    for cell in ("scale", "padding", "cls", "figure", "project"):
        found = {one.student: one for one in desk.read().answers[NOTEBOOK, cell]}
        desk.mark(Marker("lin"), (NOTEBOOK, cell), [member(found["ada"])], 1.0, f"About {cell}.", False)
    result = gather_one(course, ASSIGNMENT, "ada")
    assert result is not None and (result.points, list(result.waiting)) == (5.0, [])
    for command in (["feedback"], ["report"], ["export", "--to", "csv"]):
        code = cli.main(["--course-dir", str(course.root), command[0], ASSIGNMENT, *command[1:]])
        assert code in (0, 1), command
    page = (course.feedback("ada", ASSIGNMENT) / f"{NOTEBOOK}.html").read_text(encoding="utf-8")
    assert "About scale." in page and "Graded by hand" in page
    (table,) = (course.root / "exports").rglob("*.csv")
    assert "ada,,,,graded,,,,,5,0,5,10,,1,1,1,1,1," in table.read_text() and "scale: About scale." in table.read_text()


def test_another_answer_waits_and_its_comment_is_about_an_earlier_one(course: Course, desk: Desk) -> None:
    mark(desk, Marker("lin"), 2.0, "Good.", "ada")
    hand_in(course, "ada", {"scale": "Something else.", **REST})
    score, _, waits, comment = held(course, "ada", "scale")
    assert (score, waits, comment) == (2.0, True, f"{EARLIER}\nGood.")
    assert answers(desk)["ada"].waits


def test_an_answer_that_changed_while_it_was_read_gets_no_mark_and_waits(course: Course, desk: Desk) -> None:
    seen, lin = answers(desk), Marker("lin")
    change = change_of(seen["ada"], 2.0, "", False)
    hand_in(course, "ada", {"scale": "Something else.", **REST})
    assert store_marks(course, ASSIGNMENT, [change]) == []
    desk.mark(lin, KEY, [member(seen[student]) for student in ("ada", "bob")], 2.0, "", False)
    assert held(course, "ada", "scale")[0] is None and held(course, "ada", "scale")[2]
    assert held(course, "bob", "scale")[0] == 2.0
    assert "1 answer marked with 2 points. 1 answer not marked" in lin.said


@pytest.mark.parametrize("alone", [False, True])
def test_what_the_formgrader_stored_meanwhile_is_not_overwritten(course: Course, desk: Desk, alone: bool) -> None:
    seen, lin = answers(desk)["ada"], Marker("lin")
    as_the_formgrader_does(course, "ada", 0.5, "No.")
    desk.mark(lin, KEY, [member(seen)], 2.0, "Yes.", alone)
    assert held(course, "ada", "scale") == (0.5, None, False, "No.")
    assert store_marks(course, ASSIGNMENT, [change_of(seen, 2.0, "Yes.", alone)]) == []
    with gradebook_of(course) as gradebook:  # the comment alone
        gradebook.find_comment("scale", NOTEBOOK, ASSIGNMENT, "bob").manual_comment = "Mine."
    seen = replace(seen, row=answers(desk)["bob"].row)
    assert store_marks(course, ASSIGNMENT, [change_of(seen, 2.0, "Yes.", alone)]) == []
    assert held(course, "bob", "scale") == (None, None, True, "Mine.")


def test_a_comment_that_is_there_is_kept_by_a_group_and_replaced_alone(course: Course, desk: Desk) -> None:
    with gradebook_of(course) as gradebook:
        gradebook.find_comment("scale", NOTEBOOK, ASSIGNMENT, "ada").manual_comment = "See me."
    mark(desk, Marker("lin"), 1.0, "Why?", "ada", "bob")
    assert held(course, "ada", "scale")[3] == "See me.\n\nWhy?" and held(course, "bob", "scale")[3] == "Why?"
    mark(desk, Marker("lin"), 2.0, "", "ada", alone=True)
    assert held(course, "ada", "scale") == (2.0, None, False, "")


def test_a_comment_on_an_earlier_answer_stays_unseen(course: Course, desk: Desk) -> None:
    mark(desk, Marker("lin"), 2.0, "Good.", "ada")
    hand_in(course, "ada", {"scale": WRONG, **REST})
    mark(desk, Marker("lin"), 0.0, "", "ada", alone=True)
    assert held(course, "ada", "scale")[3] == f"{EARLIER}\nGood."
    mark(desk, Marker("lin"), 0.0, "Not the speed.", "ada", alone=True)
    assert held(course, "ada", "scale")[3] == "Not the speed."


@pytest.mark.parametrize("points", [-0.5, 2.5, float("nan"), float("inf")])
def test_points_that_are_none_store_nothing(course: Course, desk: Desk, points: float) -> None:
    with pytest.raises(GradingError, match="expected points from 0 to 2"):
        mark(desk, Marker("lin"), points, "", "ada")
    assert held(course, "ada", "scale")[0] is None


def test_nobody_marks_what_another_is_reading_until_it_expires(
    course: Course, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, lin = [answers(desk)[student].row for student in ("ada", "bob")], Marker("lin")
    other = Claims(course.root, ASSIGNMENT)  # as of a second server
    assert other.take("sam", rows) == {}
    assert desk.claims.take("lin", rows[:1]) == {rows[0]: "sam"}
    mark(desk, lin, 2.0, "", "ada", "cid")
    assert held(course, "ada", "scale")[0] is None and held(course, "cid", "scale")[0] == 2.0
    assert "left to somebody else" in lin.said
    now = desk_module.time.time()
    monkeypatch.setattr(desk_module.time, "time", lambda: now + 60 * desk_module.MINUTES + 1)
    assert desk.claims.take("lin", rows) == {}
    assert set(other.others("sam")) == set(rows)


def test_who_goes_on_lets_go_and_a_damaged_file_claims_nothing(course: Course, desk: Desk) -> None:
    desk.claims.take("sam", ["a", "b"])
    desk.claims.take("sam", ["c"])
    assert desk.claims.others("lin") == {"c": "sam"}
    (course.root / ".autograder" / "marks" / ASSIGNMENT / "claims.json").write_text('{"c": 3')
    assert desk.claims.others("lin") == {} and desk.claims.take("lin", ["c"]) == {}


def test_many_who_mark_at_once_lose_no_mark_and_give_none_twice(course: Course, desk: Desk) -> None:
    seen = answers(desk)
    stored: list[str] = []

    def give(name: str) -> None:
        for student in ("ada", "bob", "cid", "dan"):
            if store_marks(course, ASSIGNMENT, [change_of(seen[student], 1.0, name, False)]):
                stored.append(student)

    threads = [threading.Thread(target=give, args=(f"grader {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(stored) == ["ada", "bob", "cid", "dan"]
    assert all(held(course, student, "scale")[0] == 1.0 for student in stored)


def test_answers_blank_elsewhere_and_as_they_ran(course: Course, desk: Desk) -> None:
    found = answers(desk)
    assert found["eve"].blank and not found["eve"].waits and found["eve"].auto_score == 0.0
    extra = SubmittedCell("My project is about heads.", "markdown", None)
    hand_in(course, "fay", {"scale": RIGHT, **REST}, (extra,))
    project = {one.student: one for one in desk.read().answers[NOTEBOOK, "project"]}
    assert project["ada"].blank and project["fay"].text == "My project is about heads."
    figure = {one.student: one for one in desk.read().answers[NOTEBOOK, "figure"]}
    cells = desk.reader.cells_of(figure["ada"], (NOTEBOOK, "figure"))
    assert cells is not None and cells[0].outputs[0].data["image/png"]
    assert figure["eve"].blank


def test_who_cannot_be_marked_now_is_named(course: Course, desk: Desk) -> None:
    path = course.autograded("dan", ASSIGNMENT) / "verdicts.json"
    path.write_text(path.read_text().replace('"manual"', '"infrastructure"'))
    path = course.autograded("cid", ASSIGNMENT) / "verdicts.json"
    path.unlink()
    assert desk.read().left_out == {"cid": "it has yet to be graded", "dan": "it has yet to be graded"}


def test_a_restored_gradebook_is_said_and_not_marked(course: Course, desk: Desk) -> None:
    database = Path(course.db_url.removeprefix("sqlite:///"))
    kept = database.read_bytes()
    hand_in(course, "ada", {"scale": "Something else.", **REST})
    database.write_bytes(kept)
    assert desk.read().left_out == {"ada": "the gradebook is about an earlier answer"}
    assert "ada" not in answers(desk)


def test_pseudonyms_in_the_place_of_names(course: Course) -> None:
    assert Desk(course, ASSIGNMENT, anonymous=True).name("ada") == pseudonym(course.root, "ada")
    with Gradebook(course.db_url) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Lovelace")
    assert Desk(course, ASSIGNMENT).name("ada") == "Lovelace, Ada (ada)"


@pytest.mark.parametrize(("words", "said"), [
    (("nothing",), "unknown assignment 'nothing'"),
    ((ASSIGNMENT, "--graders", "a,a"), "expected every name once"),
    ((ASSIGNMENT, "--port", "70000"), "65535"),
])  # fmt: skip
def test_bad_input_is_one_line(
    course: Course, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert cli.main(["--course-dir", str(course.root), "mark", *words]) == 2
    assert said in capsys.readouterr().err


def test_undo_is_the_same_as_storing_the_other_way(course: Course, desk: Desk) -> None:
    stored = store_marks(course, ASSIGNMENT, [change_of(answers(desk)["ada"], 2.0, "Good.", False)])
    assert undo_marks(course, ASSIGNMENT, stored) == [stored[0].reverse]
    assert held(course, "ada", "scale") == (None, None, True, None)


STUDENTS = 15
#: Opens what waits for it, group by group, as its page does, and gives points of its own.
GRADER = """
import sys
from pathlib import Path
from autograder.marking.desk import Desk, Marker, member
from autograder.model.course import Course
root, name, points = sys.argv[1:]
desk, marker = Desk(Course(Path(root)), "questions", double=40), Marker(name)
for key in [one for one in desk.read().answers if one[1] == "scale"]:
    for _ in range(200):
        answers = desk.read_for(marker).answers[key]
        group = desk.next_group(key, desk.groups(key, answers, marker), marker)
        if group is None:
            break
        others = desk.claims.take(name, [one.row for one in group.waiting])
        free = [member(one) for one in group.waiting if one.row not in others]
        if free:
            desk.mark(marker, key, free, float(points), name, False)
    desk.claims.take(name, ())
"""


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.slow
def test_two_commands_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, database: str
) -> None:
    course = make_course(tmp_path / "course")
    if database == "postgresql":
        monkeypatch.setenv("NBGRADER_DB_URL", request.getfixturevalue("server"))
        course = Course(course.root)
        generate(course, ASSIGNMENT)
    for student, answers in drawn_answers(STUDENTS):
        hand_in(course, student, answers)
    before, points = dump(course), {"lin": 1.0, "sam": 0.5}
    for _ in range(2):  # what somebody else was reading is marked the second time
        processes = [
            subprocess.Popen([sys.executable, "-c", GRADER, str(course.root), name, str(given)], cwd=ROOT)
            for name, given in points.items()
        ]
        assert [one.wait(timeout=300) for one in processes] == [0, 0]
    desk = Desk(course, ASSIGNMENT, double=40)
    log = desk.log
    answers = desk.read().answers[KEY]
    for one in answers:
        score, _, waits, comment = held(course, one.student, "scale")
        mark, second = log.of(one), log.seconds.get(one.row)
        assert mark is not None and not waits and (score, comment) == (points[mark.grader], mark.grader), one
        assert second is None or second.grader != mark.grader
    assert len(log.seconds) == STUDENTS * 0.4
    assert len(log.marks) == len({(one.change.row, one.second) for one in log.marks})
    for name in points:
        while desk.undo(Marker(name)):
            pass
    assert dump(course) == before and desk.log.marks == []
