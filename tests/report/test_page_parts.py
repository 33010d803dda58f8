"""Parts of the report that need no class of 200: the class picture, and questions on students' own code."""

import random
import time
from pathlib import Path

import pytest
from PIL import Image

from autograder.model.verdict import CellVerdict, Check, NotebookVerdict, SubmissionVerdict
from autograder.pipeline.judge_questions import ASKED_NOTHING, OTHER_STUDENT
from autograder.report.page import for_a_person
from autograder.report.picture import class_picture, exercises, shares_of


def class_of(size: int) -> list[SubmissionVerdict]:
    chance = random.Random(size)
    found = []
    for number in range(size):
        cells = tuple(CellVerdict(f"part_{part}", "passed", chance.choice((0.0, 1.0, 2.0)), 2.0) for part in range(12))
        first = NotebookVerdict(f"s{number}", "sheet", "1_first", cells[:5])
        second = NotebookVerdict(
            f"s{number}", "sheet", "2_second", (*cells[5:], CellVerdict("why", "manual", None, 1.0))
        )
        found.append(SubmissionVerdict(f"student {number}", "sheet", (first, second)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 6, 60, 300])
def test_a_picture_of_any_class_is_one_that_fits_a_screen(size: int, tmp_path: Path) -> None:
    started = time.process_time()
    path = class_picture(class_of(size), tmp_path / "new" / "class.png")
    assert time.process_time() - started < 15
    with Image.open(path) as picture:
        assert 700 < picture.width < 1600 and 300 < picture.height < 2200


@pytest.mark.slow
def test_names_are_shown_as_they_are_whatever_they_hold(tmp_path: Path) -> None:
    cell = CellVerdict("x$y$z", "passed", 0.0, 0.0)
    strange = [
        SubmissionVerdict(name, "$a", (NotebookVerdict(name, "$a", "n", (cell,)),))
        for name in ("$x_{", "مرحبا", "<b>", "")
    ]
    assert class_picture(strange, tmp_path / "class.png").stat().st_size > 1000


@pytest.mark.slow
def test_exercises_keep_their_order_and_what_is_undecided_is_no_zero() -> None:
    class_ = class_of(3)
    columns = exercises(class_)
    assert columns[0] == ("1_first", "part_0") and columns[-1] == ("2_second", "why") and len(columns) == 13
    shares, waiting = shares_of(class_, columns)
    assert shares.shape == (3, 13) and waiting[:, -1].all() and not waiting[:, :-1].any()


@pytest.mark.slow
def test_a_class_of_nobody_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one"):
        class_picture([], tmp_path / "class.png")


@pytest.mark.parametrize("name", [ASKED_NOTHING, OTHER_STUDENT])
def test_code_that_a_person_should_ask_about_is_listed_with_the_reason(name: str) -> None:
    cell = CellVerdict("own_code", "manual", None, 2, (Check(name, False, "your code names 'sys'"),))
    right = CellVerdict("own_code", "passed", 2, 2, (Check("shape", True),))
    verdicts = [
        SubmissionVerdict(student, "a", (NotebookVerdict(student, "a", "n", (one,)),))
        for student, one in (("ada", cell), ("bob", right))
    ]
    assert for_a_person(verdicts) == [("own_code", "ada", "your code names 'sys'")]
