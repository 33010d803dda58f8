"""A sample class for ``source/distilbert/``: seven made-up students, from flawless to forged.

``make demo`` grades it, and so do the tests that compare one way of grading with another.
"""

from tools.demo.sample_class import EXPECTED, build_sample_class

__all__ = ["EXPECTED", "build_sample_class"]
