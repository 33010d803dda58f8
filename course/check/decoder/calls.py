"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name, side effects included.
"""

from __future__ import annotations

from typing import Any

import torch

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


def perplexity(function: Any, case: Any) -> dict[str, Any]:
    noted = side_effects(function, case.logs)
    return {"perplexity": function(case.logs), "changed": noted.get("changed", [False])}


def bigram(function: Any, case: Any) -> dict[str, Any]:
    how_many = case.config.vocabulary
    return {
        "logs": function(case.input_ids.clone(), how_many),
        **side_effects(lambda ids: function(ids, how_many), case.input_ids),
    }


def next_word_loss(function: Any, case: Any) -> dict[str, Any]:
    noted = side_effects(function, case.logits, case.input_ids)
    return {"loss": function(case.logits, case.input_ids), **noted}


def causal_attention(function: Any, case: Any) -> dict[str, Any]:
    noted = side_effects(function, case.query, case.key, case.value)
    return {"output": function(case.query, case.key, case.value), **noted}


def cached_attention(function: Any, case: Any) -> dict[str, Any]:
    new = case.query, case.key, case.value
    old = [case.old_keys, case.old_values] if case.config.cached else []
    output, cache = function(*(x.clone() for x in new), tuple(x.clone() for x in old) or None)
    noted = side_effects(lambda *x: function(*x[:3], x[3:] or None)[0], *new, *old)
    return {"output": output, "keys": cache[0], "values": cache[1], **noted}


def cache_memory(function: Any, case: Any) -> dict[str, Any]:
    given = case.config.tokens, case.config.batch, case.config.bytes_per_number
    return {"memory": float(function(case.config, *given))}


def induction_score(function: Any, case: Any) -> dict[str, Any]:
    given = case.weights.clone()
    scores = function(given, case.config.period)
    return {"scores": scores, "changed": not torch.equal(given, case.weights)}
