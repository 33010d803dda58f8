"""nbgrader's own quickstart course, with one assignment more in other styles: released, nothing handed in."""

from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.pipeline.conftest import nbgrader
from tests.plain import styles


def scores(root: Path, assignment: str) -> dict[str, dict[str, float | None]]:
    """student -> "notebook/cell" -> automatic score; None: a person has to look."""
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return {
            submission.student.id: {
                f"{notebook.name}/{grade.name}": grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(assignment)
        }


@pytest.fixture(scope="session")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("plain") / "physics"
    assert nbgrader(root.parent, "quickstart", "physics").returncode == 0
    styles.write_source(root)
    for assignment in ("ps1", "styles"):
        done = nbgrader(root, "generate_assignment", assignment)
        assert done.returncode == 0, done.said[-2000:]
    return root
