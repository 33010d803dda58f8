"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

A mistake in an earlier function costs that function's points: it is called with ready-made ones as well.
"""

from typing import Any

import numpy as np

from course.check.numpy_attention import _ready
from course.check.with_ready_parts import both_ways


def softmax(function: Any, case: Any) -> dict[str, Any]:
    return {"weights": function(case.scores), "scores": case.scores}


def self_attention(function: Any, case: Any) -> dict[str, Any]:
    return _attention(function, case, softmax=_ready.softmax)


def multihead_attention(function: Any, case: Any) -> dict[str, Any]:
    return _attention(function, case, softmax=_ready.softmax, apply_self_attention=_ready.head)


def no_loops(function: Any, case: Any) -> dict[str, Any]:
    return _attention(function, case, softmax=_ready.softmax)


def _attention(function: Any, case: Any, **ready: Any) -> dict[str, Any]:
    given = case.x, case.W_q, case.W_k, case.W_v, case.W_o

    def call() -> dict[str, Any]:
        handed = [array.copy() for array in given]
        y = function(*handed)
        return {"y": y, "changed": [not np.array_equal(*pair) for pair in zip(handed, given, strict=True)]}

    return both_ways(function, call, ready)
