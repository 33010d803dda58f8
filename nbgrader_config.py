"""The course's nbgrader configuration: stock nbgrader, with our stages in its lists of steps.

``nbgrader generate_assignment``, ``nbgrader autograde``, ``nbgrader generate_feedback``, ``nbgrader export`` and
the formgrader's buttons work as ever, with the verdicts of ``autograder grade``.
"""

import os

from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput

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

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "transformers"
c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))
if os.environ.get("NBGRADER_DB_URL"):
    c.CourseDirectory.db_url = os.environ["NBGRADER_DB_URL"]

# The submission is read as `autograder grade` reads it: renamed, empty and cut notebooks too, and no links.
c.Autograde.exporter_class = SubmissionExporter
# The notebook is made anew from the trusted source, so nbgrader's own repairs have nothing left to do ...
c.Autograde.sanitize_preprocessors = [RebuildSubmission, CheckCellMetadata]
# ... it runs confined, and the verdict comes from outside the process that ran it.
c.Autograde.autograde_preprocessors = [
    RunConfined,
    JudgeAnswers,
    ClearMetadataPreprocessor,
    LimitOutput,
    SaveGrades,
    AssignPolicyPenalties,
    CheckCellMetadata,
]
c.Autograde.post_convert_hook = sweep

c.GenerateAssignment.preprocessors = [
    SetRepository,
    FreeVersions,
    StubDeliverables,
    *GenerateAssignment.class_traits()["preprocessors"].default(),
    ClearFields,
]

# Feedback is our page, made from verdicts, marks and comments; nothing else lies beside it.
c.GenerateFeedback.preprocessors = []
c.GenerateFeedback.exporter_class = FeedbackExporter
c.GenerateFeedback.post_convert_hook = pages_only(c.CourseDirectory.root)

# The formgrader shows students' names as text: nbgrader's page would run markup in them.
# It reads the gradebook anew for every page, so that several graders at once see each other's points.
# A page that is open asks before it overwrites what somebody else has stored, here or by `autograder mark`.
c.HTMLExporter.preprocessors = [EscapeNames, ReadAfresh, AskFirst]

# A grade that is not there yet is an empty cell in grades.csv, not a 0.
c.ExportApp.plugin_class = GradesExporter
