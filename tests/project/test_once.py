"""What the tests make once in a run is what would be made each time."""

from alembic.script import ScriptDirectory
from nbgrader.api import get_alembic_version
from nbgrader.dbutil import ALEMBIC_DIR


def test_a_gradebook_is_told_the_newest_revision_that_nbgrader_brings_along():
    assert get_alembic_version() == ScriptDirectory(ALEMBIC_DIR).get_current_head()
