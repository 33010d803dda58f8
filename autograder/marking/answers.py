"""Everybody's answers to the exercises that people mark: what is handed in, and what the gradebook says of it.

What a person reads of a notebook for one exercise are the answer's cells, as they ran. Who reads whose is the same for
everybody who asks.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.assignment.assignment import Assignment
from autograder.feedback.page import notebook_body
from autograder.gradebook.graded_answers import read_record
from autograder.gradebook.marks import GradeRows, MarkChange, MarkState, paragraphs, read_marks
from autograder.gradebook.read import EARLIER, Key
from autograder.gradebook.records import read_by_student, record_path
from autograder.marking.exercises import MarkedExercise, exercises_of
from autograder.model import cells
from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.verdict import FOR_A_PERSON, NotebookVerdict
from autograder.pipeline.markdown import SHOWN_AS_TEXT


def answer_cells(notebook: NotebookNode, exercise: str, elsewhere: bool = False) -> list[NotebookNode]:
    """The student's cells that answer a graded cell; empty where nothing of the student's is there.

    notebook: as it is saved under ``autograded/``. Of a test that waits for a person the cells since the test before.
    elsewhere: the answer does not stand in its own cell, so whatever the student added is taken.
    """
    found = [index for index, cell in enumerate(notebook.cells) if cells.grade_id(cell) == exercise]
    if not found:
        return []
    place, all_cells = found[0], notebook.cells
    graded = all_cells[place]
    if cells.is_autograded(graded):
        before = [index for index in range(place) if cells.is_graded(all_cells[index])]
        start = before[-1] + 1 if before else 0
        return [cell for cell in all_cells[start:place] if _is_added(cell) or cells.is_solution(cell)] + [graded]
    own = [] if cells.is_task(graded) else [graded]
    above = list(_added(all_cells[:place][::-1]))[::-1]
    chosen = above + own + list(_added(all_cells[place + 1 :]))
    if elsewhere:
        chosen += [cell for cell in all_cells if _is_added(cell) and not any(cell is one for one in chosen)]
    return [cell for cell in chosen if cell.source.strip() or cell.get("outputs")]


def _added(following: Sequence[NotebookNode]) -> Iterator[NotebookNode]:
    """The student's own cells from the first on, up to one of the instructor's."""
    for cell in following:
        if _is_added(cell):
            yield cell
        elif not cell.get("id", "").startswith("guide-"):
            return


def _is_added(cell: NotebookNode) -> bool:
    return not cells.grade_id(cell) and bool(cell.get("id", "").startswith("extra-"))


def text_of(answer: Sequence[NotebookNode]) -> str:
    """The words of an answer, what its code printed included."""
    parts = (part for cell in answer for part in (cell.source, *_printed(cell)))
    return "\n\n".join(text for part in parts if (text := part.removeprefix(SHOWN_AS_TEXT).strip()))


def _printed(cell: NotebookNode) -> Iterator[str]:
    for output in cell.get("outputs", []):
        text = output.get("text") or output.get("data", {}).get("text/plain") or ""
        yield text if isinstance(text, str) else "".join(text)


def digest_of(answer: Sequence[NotebookNode]) -> str:
    """Of all that a page shows of the answer: two answers with the same digest look the same."""
    shown = [
        [cell.cell_type, cell.source, cell.get("attachments", {}), [_shown(one) for one in cell.get("outputs", [])]]
        for cell in answer
    ]
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:32]


def _shown(output: NotebookNode) -> dict[str, object]:
    return {key: value for key, value in output.items() if key != "execution_count"}


def rendered(answer: Sequence[NotebookNode]) -> str:
    """The cells as inert HTML. Nothing that a cell says of itself counts: all are cleaned as a student's are."""
    made = []
    for cell in answer:
        if cell.cell_type == "code":
            made.append(new_code_cell(cell.source, outputs=cell.get("outputs", [])))
        else:
            attachments = {"attachments": cell.attachments} if cell.get("attachments") else {}
            made.append(new_markdown_cell(cell.source, **attachments))
    return notebook_body(new_notebook(cells=made))


@dataclass(frozen=True)
class ReadAnswer:
    """What was handed in for one exercise. ``digest``: of all that is shown. ``said``: why no grader could judge it.

    ``elsewhere``: the answer does not stand in its own cell. ``differs``: how a plain test's values differ from the
    solution's, for which it holds all the same.
    """

    digest: str
    text: str
    blank: bool
    status: str
    said: tuple[str, ...] = ()
    elsewhere: bool = False
    differs: str = ""


@dataclass(frozen=True)
class ClassAnswer:
    """``row``, ``comment_row``: ids in the gradebook; that of the grade is another one when the answer changes.

    ``waits``: a person has to read it. ``auto_score``: what the grader gave. ``second``: it waits for the second
    mark of whoever looks at it. ``tests``: points of the notebook's tests, and how many they could be.
    """

    student: str
    row: str
    comment_row: str
    read: ReadAnswer
    state: MarkState
    auto_score: float | None = None
    second: bool = False
    tests: tuple[float, float] = 0, 0

    @property
    def waits(self) -> bool:
        return self.state.waits or self.second

    @property
    def digest(self) -> str:
        return self.read.digest

    @property
    def text(self) -> str:
        return self.read.text

    @property
    def blank(self) -> bool:
        return self.read.blank


@dataclass
class ReadClass:
    """``answers``: by exercise. ``left_out``: student to the reason why their answers cannot be marked now."""

    answers: dict[Key, list[ClassAnswer]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


class AnswerReader:
    """Reads a class again and again; a submission's files only where they are others than before."""

    def __init__(self, course: Course, assignment: str) -> None:
        """Raises GradingError where there is no such assignment, or it was never released."""
        self.course, self.assignment = course, assignment
        opened = Assignment.open(course, assignment)
        self.exercises: Mapping[Key, MarkedExercise] = exercises_of(opened)
        self._released = {
            (name, cells.grade_id(cell) or ""): cell.source.strip()
            for name, notebook in opened.release.items()
            for cell in notebook.cells
        }
        self._read: dict[str, tuple[object, dict[Key, ReadAnswer]]] = {}

    def read(self) -> ReadClass:
        """The class as it is now: first the gradebook's rows, then the texts, so that no row is about a later text.

        Raises GradingError where there is no gradebook.
        """
        grades, comments = read_marks(self.course.db_url, self.assignment)
        found = ReadClass()
        for student, rows in sorted(grades.items()):
            if not self.course.takes(student):
                continue
            answers = self._answers(student)
            record = read_record(self.course.root, self.assignment, student)
            for key, (row, auto, manual, needs) in rows.items():
                exercise, answer = self.exercises.get(key), answers.get(key)
                if exercise is None or not (exercise.always or needs or answer):
                    continue
                if answer is None or answer.status == "infrastructure":
                    found.left_out[student] = "it has yet to be graded"
                elif key[0] in record and record[key[0]].is_outdated(row, key[1]):
                    found.left_out[student] = "the gradebook is about an earlier answer"
                else:
                    comment_row, comment = comments.get((student, key[0], exercise.comment_cell), ("", None))
                    state = MarkState(manual, needs, comment)
                    one = ClassAnswer(student, row, comment_row, answer, state, auto, tests=self._tests(rows, key[0]))
                    found.answers.setdefault(key, []).append(one)
        found.answers = {key: found.answers[key] for key in self.exercises if key in found.answers}
        return found

    def _tests(self, rows: GradeRows, notebook: str) -> tuple[float, float]:
        judged = [
            (auto, exercise.max_points)
            for key, (_, auto, _, _) in rows.items()
            if key[0] == notebook and (exercise := self.exercises.get(key)) and not exercise.always and auto is not None
        ]
        return sum(points for points, _ in judged), sum(most for _, most in judged)

    def cells_of(self, answer: ClassAnswer, key: Key) -> list[NotebookNode] | None:
        """What is shown of an answer; None where it is not there any more as it was read."""
        folder = self.course.autograded(answer.student, self.assignment)
        shown = self._cells(folder, key, answer.read.elsewhere)
        return shown if shown is not None and _digest(shown, answer.read.said) == answer.digest else None

    def _answers(self, student: str) -> dict[Key, ReadAnswer]:
        folder = self.course.autograded(student, self.assignment)
        try:
            there = os.stat(folder / "verdicts.json")
            stamp = there.st_ino, there.st_mtime_ns, there.st_size
            if (known := self._read.get(student)) is None or known[0] != stamp:
                known = self._read[student] = stamp, self._read_answers(folder)
            return known[1]
        except (OSError, ValueError, KeyError, TypeError):  # not graded, or half of it is gone
            return {}

    def _read_answers(self, folder: Path) -> dict[Key, ReadAnswer]:
        verdict = verdicts.read(folder / "verdicts.json")
        return {
            (notebook.notebook, cell.cell): self._answer(folder, notebook, cell.cell)
            for notebook in verdict.notebooks
            for cell in notebook.cells
            if (notebook.notebook, cell.cell) in self.exercises
            and (self.exercises[notebook.notebook, cell.cell].always or cell.status in FOR_A_PERSON)
        }

    def _answer(self, folder: Path, notebook: NotebookVerdict, name: str) -> ReadAnswer:
        key = notebook.notebook, name
        cell = next(one for one in notebook.cells if one.cell == name)
        waits = cell.status in FOR_A_PERSON and cell.points is None
        shown = self._cells(folder, key) or []
        elsewhere = waits and self.exercises[key].always and self._is_untouched(shown, key)
        if elsewhere:
            shown = self._cells(folder, key, elsewhere) or []
        words = (*(check.message for check in cell.checks if not check.passed), cell.refused) if waits else ()
        said = tuple(filter(None, words))
        blank = not said and self._is_untouched(shown, key)
        return ReadAnswer(
            _digest(shown, said),
            text_of(shown),
            blank,
            cell.status,
            said,
            elsewhere,
            cell.refused if cell.offered is not None else "",
        )

    def _is_untouched(self, shown: list[NotebookNode], key: Key) -> bool:
        return all(cell.source.strip() in ("", self._released.get(key)) for cell in shown)

    def _cells(self, folder: Path, key: Key, elsewhere: bool = False) -> list[NotebookNode] | None:
        path = folder / f"{key[0]}.ipynb"
        if not path.is_file():
            return []  # no grader could read it
        try:
            found = answer_cells(nbformat.read(path, as_version=4), key[1], elsewhere)
            return [cell for cell in found if not self._is_untouched([cell], key)] or found
        except (OSError, ValueError):
            return None


def _digest(shown: list[NotebookNode], said: tuple[str, ...]) -> str:
    return digest_of([*shown, *map(nbformat.v4.new_raw_cell, said)])


def change_of(answer: ClassAnswer, points: float, comment: str, alone: bool) -> MarkChange:
    """The mark that a person gives.

    alone: the person has seen the comment that is there, and ``comment`` takes its place. Else it is added to it. One
    about an earlier answer, which students do not see, stays as long as there is no other.
    """
    before = answer.state
    there = before.comment or ""
    kept = "" if there.startswith(EARLIER) else there
    if not alone and kept:
        comment = "\n\n".join(dict.fromkeys([*paragraphs(kept), *paragraphs(comment)]))
    said = comment if comment or kept else before.comment
    return MarkChange(answer.row, answer.comment_row, before, MarkState(points, False, said))


def read_graders(root: Path, assignment: str) -> dict[str, str]:
    """Student to grader; empty where nobody was assigned. Raises GradingError where the file cannot be read."""
    remedy = f"'autograder assign-graders {assignment} --graders A,B' writes it again when it is gone"
    return read_by_student(record_path(root, "graders", assignment), str, remedy)


def assigned(
    assignment: str, students: Collection[str], graders: Sequence[str], before: Mapping[str, str]
) -> dict[str, str]:
    """Student to grader: the numbers differ by one at most, and whoever has a grader keeps them where that is even.

    Which student goes to whom is told by a hash of the names, so that it follows no list and is always the same.
    """
    order = sorted(students, key=lambda student: hashlib.sha256(f"{assignment}/{student}".encode()).digest())
    theirs = Counter(before[student] for student in order if before.get(student) in graders)
    least, more = divmod(len(order), len(graders))
    favoured = sorted(graders, key=lambda grader: (-theirs[grader], graders.index(grader)))[:more]
    free = {grader: least + (grader in favoured) for grader in graders}
    found: dict[str, str] = {}
    for student in order:
        if free.get(before.get(student, ""), 0):
            found[student] = before[student]
            free[before[student]] -= 1
    for student in order:
        if student not in found:
            found[student] = max(graders, key=lambda grader: (free[grader], -graders.index(grader)))
            free[found[student]] -= 1
    return found
