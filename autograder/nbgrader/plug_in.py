"""All of our steps in nbgrader's lists, in one call, which a course's ``nbgrader_config.py`` makes."""

import os

from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput
from traitlets.config import Config

from autograder.model.nbgrader import release_steps
from autograder.nbgrader.exporters import FeedbackExporter, GradesExporter, SubmissionExporter, pages_only
from autograder.nbgrader.formgrader import AskFirst, EscapeNames, ReadAfresh
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
