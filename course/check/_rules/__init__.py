"""The rules of grading, by which visible checks judge. Where the grader is installed, they are its own modules; what
students get has a copy of them in this folder.
"""

from importlib.util import find_spec
from pathlib import Path

if not Path(__file__).with_name("interface.py").is_file():
    __path__ = list(find_spec("autograder.exercise").submodule_search_locations)

from .interface import *  # noqa: F403
