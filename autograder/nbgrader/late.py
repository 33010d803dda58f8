"""nbgrader's step for late penalties, with the course's late policy in the place of nbgrader's two methods.

``nbgrader autograde`` and the formgrader's button then store the penalties that ``autograder grade`` stores.
"""

from __future__ import annotations

from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties

from autograder.gradebook.gather import gather_from
from autograder.gradebook.late.penalties import write_penalties
from autograder.model.course import Course


class AssignPolicyPenalties(AssignLatePenalties):
    """By ``late_policy.toml``, from our own record of times.

    nbgrader's own step asks a plugin only where the gradebook says that a submission was late, and the gradebook's time
    comes from a file in the student's folder. Where the policy does not speak about the assignment, that step runs.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        names = resources["nbgrader"]
        course = Course(Path.cwd())  # nbgrader's converters change into the course's root
        with Gradebook(names["db_url"]) as gradebook:
            table = gather_from(course, names["assignment"], gradebook, {names["student"]})
            write_penalties(course, gradebook, table)
            if table.deadline:
                return nb, resources
        return super().preprocess(nb, resources)
