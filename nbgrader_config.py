"""The course's nbgrader configuration: stock nbgrader, with our stages in its lists of steps.

``nbgrader generate_assignment``, ``nbgrader autograde``, ``nbgrader generate_feedback``, ``nbgrader export`` and
the formgrader's buttons work as ever, with the verdicts of ``autograder grade``.
"""

import os

from autograder.nbgrader.plug_in import plug_in

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "transformers"
if os.environ.get("NBGRADER_DB_URL"):
    c.CourseDirectory.db_url = os.environ["NBGRADER_DB_URL"]

plug_in(c, __file__)
