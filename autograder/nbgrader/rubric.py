"""Buttons under every written answer in the formgrader: the lines of its mark scheme, and the comments given before."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from sqlalchemy.exc import SQLAlchemyError

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.gradebook.remarks import remarks
from autograder.model import cells
from autograder.model.course import Course
from autograder.pipeline.rubric import rubric_lines

#: So many of the comments that were given before are offered.
OFFERED = 12


class ShowRubric(Preprocessor):
    """``c.HTMLExporter.preprocessors``: a click gives a line's points and writes its text into the comment.

    What the buttons say comes from the instructor's source and the gradebook, nothing of it from the submission; the
    page's script makes them, as text. Where either cannot be read, the formgrader's page is as it is without them.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        settings = self.config.CourseDirectory
        if "submission_id" in resources and "root" in settings:  # the first is given by the formgrader alone
            try:
                offered = _offered(Path(settings.root), resources["assignment_id"], resources["notebook_id"])
            except (GradingError, SQLAlchemyError, OSError) as error:
                self.log.warning("no rubric: %s", error)
                return nb, resources
            nb.cells.append(new_markdown_cell(page_part(offered)))
        return nb, resources


def _offered(root: Path, assignment: str, notebook: str) -> list[dict[str, Any]]:
    course = Course(root)
    source = Assignment.open(root, assignment).source.get(notebook)
    given = remarks(course.db_url, assignment, notebook)
    found = []
    for cell in source.cells if source else ():
        if not cells.is_manually_graded(cell):
            continue
        name, lines = str(cells.grade_id(cell)), rubric_lines(cell.source)
        listed = {line.text for line in lines}
        before = [text for text in given.get(name, ()) if text not in listed][:OFFERED]
        entry = {
            "cell": name,
            "max": cells.max_points(cell),
            "lines": [{"text": line.text, "points": line.points} for line in lines],
            "before": before,
        }
        found.append(entry)
    return found


def page_part(offered: list[dict[str, Any]]) -> str:
    """Style, data and script as Markdown that nbconvert passes on unchanged; no text can end its element."""
    data = json.dumps(offered).replace("\\\\", "\\u005c")
    for sign in "<>&$":
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    folder = files("autograder.nbgrader") / "formgrader_page"
    style, script = ((folder / name).read_text(encoding="utf-8") for name in ("rubric.css", "rubric.js"))
    return f"<style>\n{style}</style>\n\n<script>\n{script.replace('[/* offered */]', data)}</script>"
