"""What grades. Hidden cells import :func:`reference` from here; everything else is the teacher's."""

from autograder.testing import reference

__all__ = ["reference"]
