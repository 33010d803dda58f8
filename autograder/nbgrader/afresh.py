"""A formgrader that reads the gradebook anew: nbgrader's keeps rows in memory while another grader changes them."""

from __future__ import annotations

from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader import api
from sqlalchemy import event
from sqlalchemy.orm import ORMExecuteState, Session


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
