"""Right and wrong implementations of attention, whose outcomes students' tests are tried on.

No implementation may run beside student code: each is run here, on inputs that the students' tests may choose from, and
only its outcomes are stored. Which of them are right stays here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Attention = Callable[[Array, Array, Array], Array]
Inputs = Mapping[str, tuple[Array, Array, Array]]


def draw_inputs(generator: np.random.Generator) -> Inputs:
    """name -> (query (n, d), key (m, d), value (m, e)); the notebook describes them to students.

    Drawn again until the large scores overflow where no maximum is subtracted, and right implementations agree.
    """
    while True:
        inputs = _draw(generator)
        with np.errstate(over="ignore"):
            overflows = np.isnan(_wrong(kind="unshifted")(*inputs["huge"])).any()
        precise, single = _torch("float64"), _torch("float32")
        if overflows and all(np.abs(precise(*given) - single(*given)).max() < 2e-5 for given in inputs.values()):
            return inputs


def _draw(generator: np.random.Generator) -> Inputs:
    def normal(*shape: int) -> Array:
        return generator.normal(0, 1.3, shape)

    query, key, value = normal(5, 3), normal(7, 3), normal(7, 4)
    order = generator.permutation(7)
    aimed = np.zeros((1, 4))
    aimed[0, 0] = 2.0
    three_to_one = np.array([[np.log(3.0), 0, 0, 0], [0, 1.0, 0, 0]])
    inputs = {
        "plain": (query, key, value),
        "shuffled_keys": (query, key[order], value[order]),
        "square": (normal(4, 4), normal(4, 4), normal(4, 4)),
        "one_key": (normal(5, 3), normal(1, 3), normal(1, 4)),
        "equal_keys": (normal(5, 3), np.repeat(normal(1, 3), 7, axis=0), normal(7, 4)),
        "equal_values": (normal(5, 3), normal(7, 3), np.repeat(normal(1, 4), 7, axis=0)),
        "three_to_one": (aimed, three_to_one, normal(2, 3)),
        "huge": (400 * normal(5, 3), normal(7, 3), normal(7, 4)),
        "tiny": (1e-3 * normal(5, 3), 1e-3 * normal(7, 3), normal(7, 4)),
    }
    return {
        name: (q.astype(np.float32), k.astype(np.float32), v.astype(np.float32)) for name, (q, k, v) in inputs.items()
    }


def softmax(scores: Array, kind: str = "keys") -> Array:
    """Scores (queries, keys) -> what somebody takes for their softmax; ``keys`` is the right one."""
    axis = {"queries": -2, "all": (-2, -1)}.get(kind, -1)
    if kind == "none":
        return scores
    with np.errstate(all="ignore"):
        shifted = scores if kind in ("unshifted", "undivided") else scores - scores.max(axis=axis, keepdims=True)
        exponentials = np.exp(shifted)
        return np.asarray(exponentials if kind == "undivided" else exponentials / exponentials.sum(axis, keepdims=True))


@dataclass(frozen=True)
class Implementation:
    """One implementation, right or wrong.

    description: completes "your tests let pass an implementation that ..."; None where it is right.
    hint: for those whose tests let it pass.
    """

    id: str
    attention: Attention
    description: str | None = None
    hint: str = ""


def _torch(dtype: str) -> Attention:
    def attention(query: Array, key: Array, value: Array) -> Array:
        import torch

        q, k, v = (torch.from_numpy(array).to(getattr(torch, dtype)) for array in (query, key, value))
        return np.asarray(torch.nn.functional.scaled_dot_product_attention(q, k, v).numpy())

    return attention


def _jittered(query: Array, key: Array, value: Array) -> Array:
    # a sum in another order ends in other digits
    out = _torch("float64")(query, key, value)
    return out + 1e-6 * np.cos(np.arange(out.size)).reshape(out.shape)


def _wrong(scale: float | None = -0.5, kind: str = "keys", **others: object) -> Attention:
    def attention(query: Array, key: Array, value: Array) -> Array:
        q, k, v = (array.astype(np.float64) for array in (query, key, value))
        if others.get("swapped"):
            q, k = k, q
        scores = q @ (k if others.get("untransposed") else k.T) * q.shape[1] ** (0.0 if scale is None else scale)
        if others.get("masked"):
            scores = np.where(np.tril(np.ones(scores.shape, dtype=bool)), scores, -np.inf)
        if others.get("late"):
            return softmax(scores @ v)
        weights = softmax(scores, kind)
        if others.get("hard"):
            weights = (weights == weights.max(axis=-1, keepdims=True)).astype(np.float64)
        if others.get("transposed"):
            weights = weights.T
        if others.get("shortened"):
            weights = np.where(np.arange(weights.shape[1]) == weights.shape[1] - 1, 0.0, weights)
        if others.get("wrong_axis"):
            return np.asarray(np.einsum("ij,jk->jik", weights, v).sum(axis=1))
        with np.errstate(invalid="ignore"):
            return np.asarray(weights @ v)

    return attention


IMPLEMENTATIONS = [
    Implementation("float64", _torch("float64")),
    Implementation("float32", _torch("float32")),
    Implementation("jittered", _jittered),
    Implementation("transposed_twice", lambda q, k, v: np.ascontiguousarray(_torch("float64")(q, k, v).T).T),
    Implementation(
        "M2", _wrong(scale=None), "does not divide the scores", "For which input do you know the weights exactly?"
    ),
    Implementation(
        "M3",
        _wrong(scale=-1.0),
        "divides the scores by d, not by its root",
        "For which input do you know the weights exactly?",
    ),
    Implementation(
        "M1",
        _wrong(kind="queries"),
        "takes the softmax over the queries",
        "What must come out when all values are equal?",
    ),
    Implementation(
        "M1-all",
        _wrong(kind="all"),
        "lets all weights together sum to 1",
        "What must come out when all values are equal?",
    ),
    Implementation("M1-none", _wrong(kind="none"), "has no softmax", "What must come out when all values are equal?"),
    Implementation(
        "M1-undivided",
        _wrong(kind="undivided"),
        "never divides by the sum of the exponentials",
        "What must come out when there is one key only?",
    ),
    Implementation(
        "M1-overflow",
        _wrong(kind="unshifted"),
        "gives nan where the scores are large",
        "Which input has large scores? Is everything that comes out a number?",
    ),
    Implementation(
        "M4",
        _wrong(untransposed=True),
        "multiplies queries by keys that are not transposed",
        "It only runs where as many keys as dimensions are given.",
    ),
    Implementation(
        "M4-swap",
        _wrong(swapped=True),
        "exchanges query and key",
        "Try an input with other numbers of queries and keys.",
    ),
    Implementation(
        "M4-transposed",
        _wrong(transposed=True),
        "transposes the weights",
        "Try an input with other numbers of queries and keys.",
    ),
    Implementation(
        "M9",
        _wrong(wrong_axis=True),
        "sums over the queries where it should sum over the keys",
        "What must come out when all values are equal?",
    ),
    Implementation(
        "M9-late", _wrong(late=True), "takes the softmax of the result", "Must each row of the result sum to 1?"
    ),
    Implementation(
        "uniform",
        lambda q, k, v: np.repeat(v.mean(axis=0, keepdims=True), len(q), axis=0).astype(np.float64),
        "gives the mean of the values, whatever is asked",
        "For which input must one value weigh more than another?",
    ),
    Implementation(
        "hard", _wrong(hard=True), "takes the best key's value alone", "When all keys are equal, who is best?"
    ),
    Implementation(
        "masked",
        _wrong(masked=True),
        "hides later keys from earlier queries",
        "Does the order in which keys and values are given matter?",
    ),
    Implementation("shortened", _wrong(shortened=True), "forgets the last key", "Every value must count."),
    Implementation(
        "rounded",
        lambda q, k, v: _torch("float64")(q, k, v).round(1),
        "rounds its result to one decimal",
        "How large a difference do your comparisons let pass?",
    ),
]


def record(inputs: Inputs, implementations: list[Implementation]) -> dict[str, Array]:
    """``plain.query`` and so on, and ``3.plain``: what implementation 3 gives; absent where it fails."""
    arrays: dict[str, Array] = {}
    for name, given in inputs.items():
        arrays |= {f"{name}.{part}": array for part, array in zip(("query", "key", "value"), given, strict=True)}
        for number, implementation in enumerate(implementations):
            try:
                arrays[f"{number}.{name}"] = implementation.attention(*given)
            except (ValueError, RuntimeError):  # shapes that do not fit: it fails in the student's test as well
                continue
    return arrays
