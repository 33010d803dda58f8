"""All of our steps in nbgrader's lists, in one call: what ``autograder adopt`` puts into a course's configuration."""

from __future__ import annotations

from pathlib import Path

from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput
from traitlets.config import Config

from autograder.nbgrader.afresh import ReadAfresh
from autograder.nbgrader.autograde import SubmissionExporter
from autograder.nbgrader.deliverables import StubDeliverables
from autograder.nbgrader.feedback import FeedbackExporter, pages_only
from autograder.nbgrader.formgrader import AskFirst, EscapeNames
from autograder.nbgrader.grades import GradesExporter
from autograder.nbgrader.late import AssignPolicyPenalties
from autograder.nbgrader.preprocessors import (
    ClearFields,
    FreeVersions,
    JudgeAnswers,
    RebuildSubmission,
    RunConfined,
    SetRepository,
    sweep,
)
from autograder.nbgrader.save import SaveGrades


def plug_in(c: Config, path: str) -> None:
    """Let nbgrader's commands and the formgrader grade and give feedback as the ``autograder`` command does.

    c: the configuration, as ``get_config()`` gives it. What it says already about releasing, exporting and the course's
    folder stays. path: the configuration's file, whose folder is the course's.
    """
    if "root" not in c.CourseDirectory:
        c.CourseDirectory.root = str(Path(path).resolve().parent)
    c.Autograde.exporter_class = SubmissionExporter
    c.Autograde.sanitize_preprocessors = [RebuildSubmission, CheckCellMetadata]
    c.Autograde.autograde_preprocessors = [
        RunConfined, JudgeAnswers, ClearMetadataPreprocessor, LimitOutput, SaveGrades, AssignPolicyPenalties,
        CheckCellMetadata,
    ]  # fmt: skip
    c.Autograde.post_convert_hook = sweep
    steps = c.GenerateAssignment.get("preprocessors")
    if not isinstance(steps, list):
        steps = GenerateAssignment.class_traits()["preprocessors"].default()
    c.GenerateAssignment.preprocessors = [SetRepository, FreeVersions, StubDeliverables, *steps, ClearFields]
    c.GenerateFeedback.preprocessors = []
    c.GenerateFeedback.exporter_class = FeedbackExporter
    c.GenerateFeedback.post_convert_hook = pages_only(c.CourseDirectory.root)
    c.HTMLExporter.preprocessors = [EscapeNames, ReadAfresh, AskFirst]
    if "plugin_class" not in c.ExportApp:
        c.ExportApp.plugin_class = GradesExporter
