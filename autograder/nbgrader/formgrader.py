"""What the course's configuration changes in nbgrader's formgrader; people mark with ``autograder mark``."""

import html
from importlib.resources import files
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader import api
from sqlalchemy import event
from sqlalchemy.orm import ORMExecuteState, Session

#: What nbgrader's page of one submission shows as it stands in the gradebook, markup included.
_SHOWN = ("student", "last_name", "first_name", "assignment_id", "notebook_id", "notebook_path")


class EscapeNames(Preprocessor):
    """``c.HTMLExporter.preprocessors``: a student's name is text in the formgrader, whatever the gradebook has."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        if "submission_id" in resources:  # given by the formgrader alone
            for name in _SHOWN:
                if isinstance(resources.get(name), str):
                    resources[name] = html.escape(resources[name])
        return nb, resources


class AskFirst(Preprocessor):
    """``c.HTMLExporter.preprocessors``: an open page of the formgrader asks before it overwrites somebody's mark."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        if "submission_id" in resources:
            script = (files("autograder.nbgrader") / "ask_first.js").read_text(encoding="utf-8")
            nb.cells.append(new_markdown_cell(f"<script>\n{script}</script>"))
        return nb, resources


class ReadAfresh(Preprocessor):
    """``c.HTMLExporter.preprocessors``: every query of a formgrader's server sees what other servers have stored.

    It takes effect where the formgrader makes its exporter, once, when the server starts. Without it a server shows the
    points that it read first, and does not store points that are equal to those.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        of_the_formgrader = getattr(self.parent, "template_name", None) == "formgrade"
        if of_the_formgrader and not event.contains(Session, "do_orm_execute", _afresh):
            event.listen(Session, "do_orm_execute", _afresh)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        return nb, resources


def _afresh(state: ORMExecuteState) -> None:
    mapper = state.bind_mapper
    if state.is_select and mapper is not None and mapper.class_.__module__ == api.__name__:
        state.update_execution_options(populate_existing=True)
