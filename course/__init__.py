"""What the course's notebooks import. Importing it alone loads neither torch nor matplotlib."""

from course.config import Config

__all__ = ["Config"]
