"""The whole block, judged against transformers' own LlamaDecoderLayer. Its parts are ready-made."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from .._llama import attention_weights, draw_norm, loaded, network_weights, tensor
from .._made import MADE_MISTAKES, with_parts
from .._modern import grouped_attention, rms_norm, swiglu, tables

Array = np.ndarray
Part = Callable[[Array], Array]


def make(generator: np.random.Generator) -> list[Case]:
    from transformers.models.llama.modeling_llama import LlamaDecoderLayer

    from course.modern_parts import causal_mask, llama_config

    cases = []
    for (batch, tokens, dim), heads, kv_heads, hidden in (((2, 5, 12), 6, 2, 10), ((3, 4, 16), 2, 1, 9)):
        cos, sin = (table.astype(np.float32) for table in tables(np.arange(tokens), dim // heads))
        weights = {
            "input_layernorm.weight": draw_norm(generator, dim),
            **attention_weights(generator, dim, heads, kv_heads, "self_attn."),
            "post_attention_layernorm.weight": draw_norm(generator, dim),
            **network_weights(generator, dim, hidden, "mlp."),
        }
        x = generator.normal(0, 1, (batch, tokens, dim)).astype(np.float32)
        x[1] *= 0.002  # small numbers: the norms' eps shows
        layer = loaded(LlamaDecoderLayer(llama_config(dim, heads, kv_heads, hidden), 0), weights)
        output = layer(
            tensor(x), causal_mask(tokens).double(), position_embeddings=(tensor(cos)[None], tensor(sin)[None])
        )
        config = {"dim": dim, "heads": heads, "kv_heads": kv_heads, "hidden": hidden}
        inputs = {"x": x, "cos": cos, "sin": sin}
        cases.append(Case(config, inputs, weights, {}, {"output": output.detach().numpy()}))
    return cases


def _known(compute: Callable[[Array, Part, Part, Part, Part], Array]) -> Callable[[Case], Mapping[str, Array]]:
    """compute: x, input_layernorm, self_attn, post_attention_layernorm, mlp -> the output"""

    def answers(case: Case) -> Mapping[str, Array]:
        weights, sizes = case.weights, (case.config["heads"], case.config["kv_heads"])
        cos, sin = case.inputs["cos"], case.inputs["sin"]
        return {
            "output": compute(
                case.inputs["x"].astype(np.float64),
                lambda x: rms_norm(x, weights["input_layernorm.weight"]),
                lambda x: grouped_attention(x, cos, sin, weights, *sizes, prefix="self_attn."),
                lambda x: rms_norm(x, weights["post_attention_layernorm.weight"]),
                lambda x: swiglu(x, weights, "mlp."),
            )
        }

    return answers


def _right(x: Array, n1: Part, attend: Part, n2: Part, feed: Part) -> Array:
    h = x + attend(n1(x))
    return h + feed(n2(h))


def _no_skip_1(x: Array, n1: Part, attend: Part, n2: Part, feed: Part) -> Array:
    h = attend(n1(x))
    return h + feed(n2(h))


def _post(x: Array, n1: Part, attend: Part, n2: Part, feed: Part) -> Array:
    h = n1(x + attend(x))
    return n2(h + feed(h))


def _normed_skips(x: Array, n1: Part, attend: Part, n2: Part, feed: Part) -> Array:
    h = n1(x) + attend(n1(x))
    return n2(h) + feed(n2(h))


def _network_first(x: Array, n1: Part, attend: Part, n2: Part, feed: Part) -> Array:
    h = x + feed(n2(x))
    return h + attend(n1(h))


MISTAKES = [
    Mistake("BLOCK-skip-1", "The skip around the attention is missing.", "Add what went into the first norm.",
            _known(_no_skip_1)),
    Mistake("BLOCK-skip-2", "The skip around the network is missing.", "Add what went into the second norm.",
            _known(lambda x, n1, a, n2, f: f(n2(x + a(n1(x)))))),
    Mistake("BLOCK-skips", "Both skips are missing.", "Each sublayer's result is added to what went into its norm.",
            _known(lambda x, n1, a, n2, f: f(n2(a(n1(x)))))),
    Mistake("BLOCK-start", "The second skip starts at the block's input.", "It starts behind the first addition.",
            _known(lambda x, n1, a, n2, f: x + f(n2(x + a(n1(x)))))),
    Mistake("BLOCK-post", "This is post-norm: each norm stands behind the addition.",
            "Here it stands before its sublayer.", _known(_post)),
    Mistake("BLOCK-normed", "The skips carry normalised vectors.", "The skip takes x as it is, before the norm.",
            _known(_normed_skips)),
    Mistake("BLOCK-norm-1", "The attention is given x without the norm.", "self_attn takes what input_layernorm gives.",
            _known(lambda x, n1, a, n2, f: _right(x, lambda y: y, a, n2, f))),
    Mistake("BLOCK-norm-2", "The network is given its input without the norm.",
            "mlp takes what post_attention_layernorm gives.",
            _known(lambda x, n1, a, n2, f: _right(x, n1, a, lambda y: y, f))),
    Mistake("BLOCK-same", "One and the same norm was used twice.", "Each of the two has its own learned scale.",
            _known(lambda x, n1, a, n2, f: _right(x, n1, a, n1, f))),
    Mistake("BLOCK-exchange", "The two norms have changed places.", "input_layernorm comes first.",
            _known(lambda x, n1, a, n2, f: _right(x, n2, a, n1, f))),
    Mistake("BLOCK-parallel", "Attention and network were given the same input.",
            "The network sees what the attention added.",
            _known(lambda x, n1, a, n2, f: x + a(n1(x)) + f(n2(x)))),
    Mistake("BLOCK-order", "The network comes before the attention.", "Attention first.", _known(_network_first)),
    Mistake("BLOCK-attention", "The attention is missing.", "Two sublayers.",
            _known(lambda x, n1, a, n2, f: x + f(n2(x)))),
    Mistake("BLOCK-network", "The network is missing.", "Two sublayers.", _known(lambda x, n1, a, n2, f: x + a(n1(x)))),
    *MADE_MISTAKES,
    *SIDE_EFFECTS,
]  # fmt: skip

EXERCISE = Exercise(make, with_parts(without_side_effects(compare_case)), MISTAKES, framework="torch")
