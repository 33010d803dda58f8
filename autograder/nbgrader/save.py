"""nbgrader's step that saves automatic grades, with our rule for the manual ones."""

from __future__ import annotations

from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import SaveAutoGrades

from autograder.gradebook.graded_answers import read_record, settle, settling, write_record
from autograder.model.verdict import NotebookVerdict


class SaveGrades(SaveAutoGrades):
    """nbgrader's own step sends every manual grade back to a person; ours does so where the answer has changed.

    Takes the digests of the answers from ``resources["autograder"]``, where the rebuild has left them.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        done: tuple[NotebookNode, ResourcesDict] = super().preprocess(nb, resources)
        names, root = resources["nbgrader"], Path.cwd()  # nbgrader's converters change into the course's root
        student, assignment, notebook = names["student"], names["assignment"], names["notebook"]
        with settling(root, assignment), Gradebook(names["db_url"]) as gradebook:
            record = read_record(root, assignment, student)
            stored = gradebook.find_submission_notebook(notebook, assignment, student)
            verdict = resources["autograder"]["verdict"]
            settled, _ = settle(stored, verdict, resources["autograder"]["answers"], record.get(notebook))
            gradebook.db.commit()
            write_record(root, assignment, student, {**record, notebook: settled})
        return done

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        """The automatic score alone: whether a person must look is decided when all of them are there."""
        name = cell.metadata["nbgrader"]["grade_id"]
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        verdict: NotebookVerdict = resources["autograder"]["verdict"]
        grade.auto_score = next(one.points for one in verdict.cells if one.cell == name)
        self.gradebook.db.commit()

    def _add_comment(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        """nbgrader says "No response." of a cell that is as it was handed out; the answer may stand elsewhere."""
        super()._add_comment(cell, resources)
        name = cell.metadata["nbgrader"]["grade_id"]
        verdict: NotebookVerdict = resources["autograder"]["verdict"]
        if any(one.cell == name and one.points is None for one in verdict.cells):
            comment = self.gradebook.find_comment(name, self.notebook_id, self.assignment_id, self.student_id)
            comment.auto_comment = None
            self.gradebook.db.commit()
