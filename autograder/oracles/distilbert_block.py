"""References for the attention block: ``__init__``, and the three steps of ``forward`` apart.

The steps are judged so that one mistake costs its own points only. The scores are read off the weights
as logarithms, whatever axis they were normalised over; the softmax is judged by what it must do to any
scores; the context is held against what the student's own weights give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from autograder.compare import compare_value
from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake
from autograder.oracles import attention
from autograder.oracles.attention import Knobs
from autograder.verdict import Check

if TYPE_CHECKING:
    from transformers import DistilBertConfig

# torch and transformers are imported where references are made: judging needs NumPy alone, and starts at once

Array = np.ndarray
EPS = 1e-12


def config(n_heads: int, head_size: int, hidden_dim: int, **others: int) -> dict[str, int | float | str]:
    """The attributes of a ``course.Config`` of this size, as the seed names them."""
    dim = n_heads * head_size
    return {
        "n_heads": n_heads,
        "dim": dim,
        "hidden_dim": hidden_dim,
        "attention_head_size": head_size,
        "all_head_size": dim,
        "eps": EPS,
        "n_layers": 2,
        "pad_token_id": 0,
        "max_position_embeddings": 16,
        "vocab_size": 23,
        "n_classes": 2,
        "device": "cpu",
        **others,
    }


def hf_config(sizes: Mapping[str, object]) -> DistilBertConfig:
    from transformers import DistilBertConfig

    names = ("n_heads", "dim", "hidden_dim", "n_layers", "max_position_embeddings", "vocab_size")
    picked = {name: sizes[name] for name in names}
    return DistilBertConfig(
        **picked,
        dropout=0.0,
        attention_dropout=0.0,
        seq_classif_dropout=0.0,
        num_labels=sizes["n_classes"],
        attn_implementation="eager",
    )


def block_weights(generator: np.random.Generator, dim: int, hidden_dim: int, bias: float = 0.3) -> dict[str, Array]:
    """Weights whose scores come out of order 1: large enough that every mistake shows."""
    weights: dict[str, Array] = {}
    for name, rows, columns in [
        ("q_lin", dim, dim),
        ("k_lin", dim, dim),
        ("v_lin", dim, dim),
        ("out_lin", dim, dim),
        ("lin1", hidden_dim, dim),
        ("lin2", dim, hidden_dim),
    ]:
        weights[f"{name}.weight"] = generator.normal(0, 1.6 / columns**0.5, (rows, columns)).astype(np.float32)
        weights[f"{name}.bias"] = generator.normal(0, bias, rows).astype(np.float32)
    for name in ("sa_layer_norm", "output_layer_norm"):
        weights[f"{name}.weight"] = generator.normal(1, 0.2, dim).astype(np.float32)
        weights[f"{name}.bias"] = generator.normal(0, 0.2, dim).astype(np.float32)
    return weights


def oracle(hidden_states: Array, weights: Mapping[str, Array], sizes: Mapping[str, object]) -> tuple[Array, Array]:
    """``transformers``' own block in float64: -> output (batch, tokens, dim), weights (batch, heads, tokens, tokens)"""
    import torch
    from transformers.models.distilbert.modeling_distilbert import TransformerBlock

    block = TransformerBlock(hf_config(sizes)).double().eval()
    place = {
        "q_lin": "attention.",
        "k_lin": "attention.",
        "v_lin": "attention.",
        "out_lin": "attention.",
        "lin1": "ffn.",
        "lin2": "ffn.",
    }
    block.load_state_dict(
        {
            place.get(name.split(".")[0], "") + name: torch.from_numpy(w.astype(np.float64))
            for name, w in weights.items()
        }
    )
    x = torch.from_numpy(hidden_states.astype(np.float64))
    with torch.no_grad():
        return block(x).numpy(), block.attention(x)[1].numpy()


def _case(
    generator: np.random.Generator,
    batch: int,
    tokens: int,
    n_heads: int,
    head_size: int,
    hidden_dim: int,
    size: float = 1.0,
    bias: float = 0.3,
) -> Case:
    sizes = config(n_heads, head_size, hidden_dim)
    dim = n_heads * head_size
    weights = block_weights(generator, dim, hidden_dim, bias)
    hidden_states = (size * generator.normal(0, 1, (batch, tokens, dim))).astype(np.float32)
    output, attention_weights = oracle(hidden_states, weights, sizes)
    return Case(sizes, {"hidden_states": hidden_states}, weights, {}, {"output": output, "weights": attention_weights})


def _ordinary(generator: np.random.Generator) -> list[Case]:
    return [_case(generator, 2, 5, 3, 4, 17), _case(generator, 3, 7, 4, 2, 11)]


def _low_variance(generator: np.random.Generator) -> Case:
    # shows a LayerNorm whose eps is not the config's: invisible on any other input
    return _case(generator, 2, 5, 3, 4, 17, size=1e-3, bias=1e-4)


def _huge(generator: np.random.Generator) -> Case:
    # shows an exponential that overflows: scores of several hundred
    return _case(generator, 2, 5, 3, 4, 17, size=50.0)


# --- part 1: __init__ -------------------------------------------------------------------------------------------------


def _make_init(generator: np.random.Generator) -> list[Case]:
    cases = []
    for sizes in (config(3, 4, 17), config(4, 2, 11)):
        dim = sizes["dim"]
        expected = {f"{name}_lin": np.array([dim, dim]) for name in "qkv"}
        expected |= {"biases": np.array([True] * 3), "distinct": np.array(3), "registered": np.array(3)}
        cases.append(Case(config=sizes, expected=expected))
    return cases


INIT_MISTAKES = [
    Mistake(
        "INIT-head",
        "Each projection is only as wide as one head.",
        "All heads share one projection: it maps dim features to dim features, the heads are cut out of it later.",
        lambda case: {"q_lin": np.array([case.config["attention_head_size"], case.config["dim"]])},
    ),
    Mistake(
        "INIT-hidden",
        "A projection has the width of the feed-forward network.",
        "hidden_dim belongs to lin1 and lin2; query, key and value keep the model's dim.",
        lambda case: {"q_lin": np.array([case.config["hidden_dim"], case.config["dim"]])},
    ),
    Mistake(
        "INIT-bias",
        "The projections have no bias.",
        "The pretrained weights carry a bias for each of them; nn.Linear has one unless told otherwise.",
        lambda case: {"biases": np.array([False] * 3)},
    ),
    Mistake(
        "INIT-shared",
        "Query, key and value share one and the same layer.",
        "They must be able to learn different things: three layers, three objects.",
        lambda case: {"distinct": np.array(1)},
    ),
]

# --- part 2: scores, weights, context ---------------------------------------------------------------------------------


def _scores(case: Case, knobs: Knobs = Knobs()) -> Array:
    return attention.attention_scores(
        case.inputs["hidden_states"].astype(np.float64), case.weights, int(case.config["n_heads"]), knobs
    )


def _fits(log_weights: Array, scores: Array, axes: Sequence[int] = (-1, -2, 1, 0)) -> bool:
    """True where the weights are these scores, exponentiated and normalised over one of the axes."""
    difference = log_weights - scores
    spread = min(float(np.ptp(difference, axis=axis).max()) for axis in axes)
    return spread < 2e-3


SCORE_MISTAKES = [
    (
        "M2",
        "Your scores are √(size of a head) times too large: they were not divided.",
        "q comes divided by √d_k already in the given code; was that line lost?",
        Knobs(scale="never"),
    ),
    (
        "M3",
        "Your scores are divided by √d_k twice.",
        "The given line above already divides q; the scores need no further division.",
        Knobs(scale="twice"),
    ),
    (
        "M3-dim",
        "Your scores are divided by √dim, the width of the whole model.",
        "Each head has its own, smaller width: the last axis of q.",
        Knobs(scale="dim"),
    ),
    (
        "M4-swap",
        "Query and key have changed places: entry (i, j) is how token j asks for token i.",
        "Rows are queries, columns are keys: which of the two is transposed?",
        Knobs(swap_query_key=True),
    ),
    (
        "M5",
        "The heads are cut out of the wrong axis: a head mixes numbers of different tokens.",
        "First split the last axis into (heads, size), then exchange the token axis with the head axis.",
        Knobs(split="untransposed"),
    ),
    (
        "M5-inter",
        "The heads are interleaved: neighbouring features went to different heads.",
        "The last axis splits into (heads, size), in this order.",
        Knobs(split="interleaved"),
    ),
]


def judge_scores(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    weights = answers.arrays.get("weights")
    shape = compare_value("weights", weights, case.expected["weights"].astype(np.float32), exercise)
    if weights is None or weights.shape != case.expected["weights"].shape or weights.dtype.kind != "f":
        return Judgement([Check("scores", False, shape.message, shape.hint)])
    given = weights.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(given)
    right = _scores(case)
    if np.isfinite(logs).all() and _fits(logs, right):
        return Judgement([Check("scores", True)])
    if np.allclose(given, right, atol=1e-4, rtol=1e-3):  # no softmax at all: that costs the next step's points
        return Judgement([Check("scores", True)])
    if not np.isfinite(logs).all():
        message = "Some weights are zero, negative or not finite; a softmax never gives such a number."
        return Judgement([Check("scores", False, message, "Is anything masked, clipped or subtracted here?")])
    for name, message, hint, knobs in SCORE_MISTAKES:
        if _fits(logs, _scores(case, knobs)):
            return Judgement([Check(name, False, message, hint, name)])
    if _fits(given, attention.softmax(right)) or _fits(logs, attention.softmax(right)):
        return Judgement(
            [Check("M3-softmax", False, "The softmax was applied twice.", "Once is enough.", "M3-softmax")]
        )
    return Judgement([_fitted(logs, right)])


def _fitted(logs: Array, scores: Array) -> Check:
    """What factor explains the scores best, where one explains them at all."""
    x = scores - scores.mean(-1, keepdims=True)
    y = logs - logs.mean(-1, keepdims=True)
    factor = float((x * y).sum() / (x * x).sum())
    if np.abs(y - factor * x).max() < 2e-3 * max(1.0, abs(factor)):
        return Check(
            "M3-factor",
            False,
            f"Your scores are {factor:.3g} times what they should be.",
            "The only factor is one over the square root of a head's size, and the given code applies it.",
            "M3-factor",
        )
    return Check(
        "scores",
        False,
        "The attention scores are not the dot products of queries and keys.",
        "Which axis of k must meet which axis of q? Write both shapes down.",
    )


def judge_weights(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    weights = answers.arrays.get("weights")
    shape = compare_value("weights", weights, case.expected["weights"].astype(np.float32), exercise)
    if weights is None or weights.shape != case.expected["weights"].shape or weights.dtype.kind != "f":
        return Judgement([Check("weights", False, shape.message, shape.hint)])
    if not np.isfinite(weights).all():
        return Judgement(
            [
                Check(
                    "M1-overflow",
                    False,
                    "The weights hold nan or inf when the scores are large.",
                    "Use torch's own softmax: it subtracts the largest score first.",
                    "M1-overflow",
                )
            ]
        )
    if _sums_to_one(weights, -1) and (weights >= 0).all():
        if len(np.unique(weights.round(6))) == 1:
            return Judgement(
                [
                    Check(
                        "weights",
                        False,
                        "Every key gets the same weight, whatever the query.",
                        "The weights must come from the scores.",
                    )
                ]
            )
        return Judgement([Check("weights", True)])
    axes = {-2: "the queries", 1: "the heads", 0: "the batch"}
    for axis, words in axes.items():
        if _sums_to_one(weights, axis):
            return Judgement(
                [
                    Check(
                        "M1",
                        False,
                        "Each query's weights must sum to 1 over the keys (last axis); "
                        f"yours sum to 1 over axis {axis % 4}, {words}.",
                        "Is the softmax told which axis to use?",
                        "M1",
                    )
                ]
            )
    if np.allclose(weights, _scores(case), atol=1e-4, rtol=1e-3):
        return Judgement(
            [
                Check(
                    "M1-none",
                    False,
                    "These are the scores themselves: no softmax was applied.",
                    "Weights are what the softmax makes of the scores.",
                    "M1-none",
                )
            ]
        )
    return Judgement(
        [
            Check(
                "weights",
                False,
                "Each query's weights must sum to 1 over the keys (last axis).",
                "A softmax over the last axis makes them so.",
            )
        ]
    )


def _sums_to_one(weights: Array, axis: int) -> bool:
    return bool(np.allclose(weights.sum(axis=axis), 1, atol=1e-4))


CONTEXT_MISTAKES = [
    (
        "M4-transposed",
        "The weights were transposed before they met the values: each key collected from the queries.",
        "Row i of the weights belongs to query i and mixes the values of all keys.",
        Knobs(transposed_weights=True),
    ),
    (
        "M5-values",
        "The values' heads are cut out of the wrong axis.",
        "Split the last axis into (heads, size) first, then exchange axes.",
        Knobs(split="untransposed"),
    ),
    (
        "M6",
        "The heads were merged without being moved back behind the tokens: numbers of different tokens are mixed.",
        "Exchange the head axis and the token axis before the last two axes become one.",
        Knobs(merge="untransposed"),
    ),
    (
        "M7",
        "The residual connection around the attention is missing.",
        "The block adds its own input to what the attention gives, then normalises.",
        Knobs(attention_skip="none"),
    ),
    (
        "M7-ffn",
        "The residual connection around the feed-forward network is missing.",
        "Add what went into the feed-forward network to what came out, then normalise.",
        Knobs(ffn_skip="none"),
    ),
    (
        "M7-place",
        "The second residual comes from the wrong place: from the block's input.",
        "It is the output of the first LayerNorm that goes around the feed-forward network.",
        Knobs(ffn_skip="hidden"),
    ),
    (
        "M8",
        "The LayerNorm comes before the addition.",
        "Post-LN: add first, then normalise the sum.",
        Knobs(norm="before_sum"),
    ),
    ("M8-none", "The LayerNorm is missing.", "Post-LN: the sum of input and output is normalised.", Knobs(norm="none")),
    (
        "M12",
        "The feed-forward network uses ReLU; DistilBERT uses GELU.",
        "See the given line.",
        Knobs(activation="relu"),
    ),
    (
        "M12-tanh",
        "This is GELU's tanh approximation; DistilBERT uses the exact one.",
        "nn.functional.gelu without further arguments is exact.",
        Knobs(activation="tanh"),
    ),
    (
        "M12-none",
        "The feed-forward network has no activation: two linear layers are one.",
        "A GELU stands between lin1 and lin2.",
        Knobs(activation="none"),
    ),
    (
        "M13",
        "The LayerNorm's eps is not the config's.",
        "nn.LayerNorm takes eps=config.eps; its default is larger.",
        Knobs(eps=1e-5),
    ),
    (
        "M13-unbiased",
        "The variance is the unbiased one (divided by n - 1).",
        "LayerNorm divides by n.",
        Knobs(unbiased=True),
    ),
]


def judge_context(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    output, weights = answers.arrays.get("output"), answers.arrays.get("weights")
    want = case.expected["output"]
    first = compare_value("output", output, want, exercise)
    if output is None or output.shape != want.shape or output.dtype.kind != "f":
        return Judgement([first])
    if weights is None or weights.shape != case.expected["weights"].shape:
        weights = case.expected["weights"]  # weights of a wrong shape have cost their points already
    own = _tail(case, weights, Knobs())
    check = compare_value("output", output, own, exercise)
    if check.passed:
        return Judgement([Check("context", True)])
    for name, message, hint, knobs in CONTEXT_MISTAKES:
        if np.allclose(output, _tail(case, weights, knobs), atol=1e-4, rtol=1e-3):
            return Judgement([Check(name, False, message, hint, name)])
    return Judgement(
        [
            Check(
                "context",
                False,
                "The block's output does not follow from its own attention weights. " + check.message,
                check.hint or "context is the weights times the values, head by head.",
            )
        ]
    )


def _tail(case: Case, weights: Array, knobs: Knobs) -> Array:
    return attention.attention_tail(
        weights.astype(np.float64),
        case.inputs["hidden_states"].astype(np.float64),
        case.weights,
        int(case.config["n_heads"]),
        float(case.config["eps"]),
        knobs,
    )


EXERCISES = [
    Exercise("distilbert/attention_init", _make_init, mistakes=INIT_MISTAKES),
    Exercise("distilbert/attention_scores", _ordinary, judge_scores),
    Exercise("distilbert/attention_weights", lambda g: [*_ordinary(g), _huge(g)], judge_weights),
    Exercise("distilbert/attention_context", lambda g: [*_ordinary(g), _low_variance(g)], judge_context),
]
