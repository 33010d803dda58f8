"""All of our steps in nbgrader's lists, in one call, which a course's ``nbgrader_config.py`` makes.

In its formgrader little is changed; people mark with ``autograder mark``.
"""

import html
import os
from importlib.resources import files
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import ClearMetadataPreprocessor, Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader import api
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput
from sqlalchemy import event
from sqlalchemy.orm import ORMExecuteState, Session
from traitlets.config import Config

from autograder.model.nbgrader import release_steps
from autograder.nbgrader.exporters import FeedbackExporter, GradesExporter, SubmissionExporter, pages_only
from autograder.nbgrader.preprocessors import (
    AssignPolicyPenalties,
    ClearFields,
    FreeVersions,
    JudgeAnswers,
    RebuildSubmission,
    RunConfined,
    SaveGrades,
    SetRepository,
    StubDeliverables,
    sweep,
)

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


def plug_in(c: Config, path: str) -> None:
    """Let nbgrader's commands and the formgrader grade and give feedback as the ``autograder`` command does.

    c: the configuration, as ``get_config()`` gives it. What it says already about releasing, exporting and the course's
    folder stays. path: the configuration's file, whose folder is the course's.
    """
    if "root" not in c.CourseDirectory:
        c.CourseDirectory.root = os.path.dirname(os.path.abspath(path))
    # the submission is read as `autograder grade` reads it: renamed, empty and cut notebooks too, and no links
    c.Autograde.exporter_class = SubmissionExporter
    # the notebook is made anew from the trusted source, so nbgrader's own repairs have nothing left to do ...
    c.Autograde.sanitize_preprocessors = [RebuildSubmission, CheckCellMetadata]
    # ... it runs confined, and the verdict comes from outside the process that ran it
    c.Autograde.autograde_preprocessors = [
        RunConfined, JudgeAnswers, ClearMetadataPreprocessor, LimitOutput, SaveGrades, AssignPolicyPenalties,
        CheckCellMetadata,
    ]  # fmt: skip
    c.Autograde.post_convert_hook = sweep
    c.GenerateAssignment.preprocessors = [SetRepository, FreeVersions, StubDeliverables, *release_steps(c), ClearFields]
    # feedback is our page, made from verdicts, marks and comments; nothing else lies beside it
    c.GenerateFeedback.preprocessors = []
    c.GenerateFeedback.exporter_class = FeedbackExporter
    c.GenerateFeedback.post_convert_hook = pages_only(c.CourseDirectory.root)
    # The formgrader shows students' names as text: nbgrader's page would run markup in them.
    # It reads the gradebook anew for every page, so that several graders at once see each other's points.
    # A page that is open asks before it overwrites what somebody else has stored, here or by `autograder mark`.
    c.HTMLExporter.preprocessors = [EscapeNames, ReadAfresh, AskFirst]
    # a grade that is not there yet is an empty cell in grades.csv, not a 0
    if "plugin_class" not in c.ExportApp:
        c.ExportApp.plugin_class = GradesExporter
