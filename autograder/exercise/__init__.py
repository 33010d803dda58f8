"""The public interface for those who write exercises; its names are listed in :mod:`autograder.exercise.interface`."""

from .interface import *  # noqa: F403
