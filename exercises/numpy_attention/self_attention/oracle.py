"""``apply_self_attention``: one head. A single known mistake costs two fifths of the points."""

from autograder.exercise import Exercise, better_of_own_and_ready, compare_case

from .._heads import cases
from .._layers import single_head
from .._mistakes import MISTAKES, made_in

EXERCISE = Exercise(cases(heads=None), better_of_own_and_ready(compare_case), made_in(single_head, MISTAKES))
