"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name, side effects included.
"""

from __future__ import annotations

from typing import Any

from course.check.side_effects import side_effects


def top_k(function: Any, case: Any) -> dict[str, Any]:
    noted = side_effects(lambda rows: function(rows, case.config.k), case.probabilities)
    return {"output": function(case.probabilities, case.config.k), "changed": noted.get("changed", [False])}


def temperature(function: Any, case: Any) -> dict[str, Any]:
    how_hot = case.config.temperature
    noted = side_effects(lambda logits: function(logits, how_hot), case.logits)
    return {"probabilities": function(case.logits, how_hot), "changed": noted.get("changed", [False])}


def top_p(function: Any, case: Any) -> dict[str, Any]:
    noted = side_effects(lambda rows: function(rows, case.config.p), case.probabilities)
    return {"output": function(case.probabilities, case.config.p), "changed": noted.get("changed", [False])}


def rotate(function: Any, case: Any) -> dict[str, Any]:
    noted = side_effects(function, case.x, case.cos, case.sin)
    return {"output": function(case.x.clone(), case.cos.clone(), case.sin.clone()), **noted}
