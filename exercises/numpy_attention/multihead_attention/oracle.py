"""``apply_multihead_attention``: eight heads. A single known mistake costs two fifths of the points."""

from autograder.exercise import Exercise, better_of_own_and_ready, compare_case

from .._heads import N_HEADS, cases
from .._layers import multi_head
from .._mistakes import HEAD_MISTAKES, MISTAKES, made_in

EXERCISE = Exercise(
    cases(N_HEADS), better_of_own_and_ready(compare_case), made_in(multi_head, [*HEAD_MISTAKES, *MISTAKES])
)
