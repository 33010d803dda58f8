"""The graded class of ``tests/regrade``."""

from tests.regrade.conftest import graded, world  # noqa: F401
