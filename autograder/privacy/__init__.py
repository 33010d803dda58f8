"""Removing one person from everything that a course keeps."""

from autograder.privacy.erase import Erasure, erase

__all__ = ["Erasure", "erase"]
