"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name, side effects included.
"""

from typing import Any

import torch
from torch import Tensor

from course import cache_parts
from course.cache_parts import CachedBlock
from course.check._rules.case_inputs import names_around
from course.check.base import tried
from course.check.decoder import _ready
from course.check.side_effects import changed, side_effects
from course.check.with_ready_parts import both_ways, meaning
from course.decoder_parts import ReadyBlock, ready_causal_attention


def top_k(function: Any, case: Any) -> dict[str, Any]:
    noted = changed(lambda rows: function(rows, case.config.k), case.probabilities)
    return {"output": function(case.probabilities, case.config.k), "changed": noted}


def temperature(function: Any, case: Any) -> dict[str, Any]:
    how_hot = case.config.temperature
    noted = changed(lambda logits: function(logits, how_hot), case.logits)
    return {"probabilities": function(case.logits, how_hot), "changed": noted}


def top_p(function: Any, case: Any) -> dict[str, Any]:
    noted = changed(lambda rows: function(rows, case.config.p), case.probabilities)
    return {"output": function(case.probabilities, case.config.p), "changed": noted}


def rotate(function: Any, case: Any) -> dict[str, Any]:
    noted = side_effects(function, case.x, case.cos, case.sin)
    output = function(case.x.clone(), case.cos.clone(), case.sin.clone())
    lengths = tried(lambda: torch.hypot(*output.detach().chunk(2, dim=-1)))
    return {"output": output, "property/lengths": lengths, **noted}


def perplexity(function: Any, case: Any) -> dict[str, Any]:
    noted = changed(function, case.logs)
    return {"perplexity": function(case.logs), "changed": noted}


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
    def memory(config: Any) -> float:
        return float(function(config, config.tokens, config.batch, config.bytes_per_number))

    twice = case.config.twice
    larger = type(case.config)(**{**vars(case.config), twice: 2 * getattr(case.config, twice)})
    own = memory(case.config)
    return {"memory": own, "property/times": tried(lambda: memory(larger) / own)}


def induction_score(function: Any, case: Any) -> dict[str, Any]:
    given = case.weights.clone()
    scores = function(given, case.config.period)
    return {"scores": scores, "changed": not torch.equal(given, case.weights)}


def knock_out(function: Any, case: Any) -> dict[str, Any]:
    calls = [(case.ids, layer, heads) for layer, heads in case.config.calls]
    return _ready.called(function, case.load(_ready.stored_decoder(case.config.sizes)), *calls)


def patch(function: Any, case: Any) -> dict[str, Any]:
    calls = [(case.clean, case.corrupted, layer, token) for layer, token in case.config.calls]
    return _ready.called(function, case.load(_ready.stored_decoder(case.config.sizes)), *calls)


def generate(function: Any, case: Any) -> dict[str, Any]:
    model = _ready.StoredModel(case.stand_in_own, case.stand_in_carried, case.stand_in_places)
    choose = _ready.closest_to_zero()
    options = (case.config.words, choose, case.config.end, case.config.context)
    noted = changed(lambda prompt: function(model, prompt, *options), case.prompt)
    choose.asked = 0
    ids = function(model, case.prompt, *options)
    return {"ids": ids, "asked": choose.asked, "changed": noted}


def pre_norm_block(student_class: Any, case: Any) -> dict[str, Any]:
    block = case.load(student_class(case.config))

    def call() -> dict[str, Any]:
        return {"y": block(case.x.clone()), **side_effects(block, case.x, weights=list(block.parameters()))}

    return both_ways(student_class, call, {"causal_attention": ready_causal_attention})


def language_model(student_class: Any, case: Any) -> dict[str, Any]:
    model = case.load(student_class(case.config, ReadyBlock))
    noted = side_effects(model, case.input_ids, weights=list(model.parameters()))
    return {"logits": model(case.input_ids), **noted}


def cached_model(student_class: Any, case: Any) -> dict[str, Any]:
    model = case.load(student_class(case.config, CachedBlock))

    def interleaved(ids: Tensor, caches: Any = None) -> Any:
        model(ids[:, :1])  # a word of another text before each call: what it knows of a text lies in the caches
        return model(ids, caches)

    logits, held = cache_parts.in_pieces(interleaved, case.input_ids, case.config.pieces)
    noted = side_effects(lambda x: model(x)[0], case.input_ids, weights=list(model.parameters()))
    return {"logits": logits, "keys": cache_parts.kept_keys(held) if held else None, **noted}


def rms_norm(student_class: Any, case: Any) -> dict[str, Any]:
    norm = student_class(case.config.dim, **case.config.given)
    start = dict(norm.named_parameters()).get("weight")
    start = None if start is None else start.detach().clone()
    norm = case.load(norm)
    noted = side_effects(norm, case.x, weights=[norm.weight])
    if "cut" in noted and not any(noted["cut"]):
        ready = case.load(_ready.modern_parts()["RMSNorm"](case.config.dim, **case.config.given))
        own, right = (_slope(one, case.x.shape) for one in (norm, ready))
        noted["cut"][0] = not torch.allclose(own, right, rtol=1e-3, atol=1e-3)  # the mean square alone is cut off, say
    return {"output": norm(case.x.clone()), "start": start, **noted}


def _slope(norm: Any, shape: torch.Size) -> Tensor:
    """The gradient of a norm's sum, at numbers of this shape."""
    with torch.enable_grad():
        x = torch.linspace(-1, 2, shape.numel()).reshape(shape).requires_grad_()
        return torch.autograd.grad(norm(x).sum(), x)[0]


def swiglu(student_class: Any, case: Any) -> dict[str, Any]:
    return _with_parts(student_class, case, case.config.dim, case.config.hidden)


def grouped_query_attention(student_class: Any, case: Any) -> dict[str, Any]:
    return _with_parts(student_class, case, case.config.dim, case.config.heads, case.config.kv_heads)


def modern_block(student_class: Any, case: Any) -> dict[str, Any]:
    sizes = case.config.dim, case.config.heads, case.config.kv_heads, case.config.hidden
    return _with_parts(student_class, case, *sizes)


def _with_parts(student_class: Any, case: Any, *sizes: int) -> dict[str, Any]:
    """What the class gives, with ready-made parts of earlier exercises, and the weights that it makes."""
    tables = (case.cos, case.sin) if "kv_heads" in vars(case.config) else ()
    made = _ready.parameters(student_class, *sizes, given=[case.x, *tables])
    with meaning(names_around(student_class), _ready.modern_parts()):
        module = case.load(student_class(*sizes))
        noted = side_effects(lambda x: module(x, *tables), case.x, weights=list(module.parameters()))
        return {"output": module(case.x.clone(), *tables), **made, **noted}


# --- byte-pair encoding -----------------------------------------------------------------------------------------------


def pair_counts(function: Any, case: Any) -> dict[str, Any]:
    words = {tuple(symbols): often for symbols, often in zip(case.config.words, case.config.counts, strict=True)}
    found = function(dict(words))
    pairs = sorted(found)
    return {"pairs": [list(pair) for pair in pairs], "counts": [found[pair] for pair in pairs]}


def merge(function: Any, case: Any) -> dict[str, Any]:
    given = zip(case.config.words, case.config.pairs, strict=True)
    symbols = [list(function(tuple(word), tuple(pair))) for word, pair in given]
    return {"symbols": symbols, "property/letters": _letters(symbols)}


def _letters(words: list[list[Any]]) -> list[int]:
    """How many letters the symbols of each word have together."""
    return [len("".join(map(str, symbols))) for symbols in words]


def train(function: Any, case: Any) -> dict[str, Any]:
    words = dict(zip(case.config.words, case.config.counts, strict=True))
    given = dict(words)
    found = function(given, case.config.number, _ready.counts, _ready.joined)
    return {"merges": [pair if isinstance(pair, str) else list(pair) for pair in found], "changed": given != words}


def encode(function: Any, case: Any) -> dict[str, Any]:
    merges = [tuple(pair) for pair in case.config.merges]
    tokens = [list(function(word, list(merges), _ready.joined)) for word in case.config.words]
    return {"tokens": tokens, "property/letters": _letters(tokens)}
