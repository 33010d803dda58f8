"""What the course's configuration changes in nbgrader's formgrader; people mark with ``autograder mark``."""

from __future__ import annotations

import html
from importlib.resources import files

from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

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
