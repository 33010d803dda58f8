"""``nbgrader generate_assignment`` releases the students' version of ``models.py``, not the instructor's."""

from __future__ import annotations

from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.assignment.assignment import read_files
from autograder.assignment.deliverables import write_stubs
from autograder.model.course import Course


class StubDeliverables(NbGraderPreprocessor):
    """Replaces the deliverables that nbgrader copied along by what students get. It leaves the notebook as it is.

    nbgrader has copied the files when it converts the first notebook. Raises GradingError, which ends the release, for
    a file that would show its solution.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        converter = getattr(self.parent, "parent", None)
        if isinstance(converter, GenerateAssignment):  # else somebody asks for the notebook alone
            name = resources["nbgrader"]["assignment"]
            course = Course(Path(converter.coursedir.root))
            source, target = converter._format_source(name, "."), converter._format_dest(name, ".")
            write_stubs(course, name, Path(target), read_files(Path(source), course.settings.ignore))
        return nb, resources
