"""What the course's notebooks import. Importing it alone loads neither torch nor matplotlib."""

from course.config import Config
from course.update import update

__all__ = ["Config", "update"]
