"""Two small classes: the toy course with nobody graded (``course``), and three students graded (``world``)."""

from tests.exports.conftest import course, released  # noqa: F401
from tests.regrade.conftest import graded, world  # noqa: F401
