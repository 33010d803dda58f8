"""Silenced heads. Expected answers: a model whose o_proj has zeros where it would read these heads."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant

from ._rules import LEFT_HOOK, LEFT_WEIGHTS, leaving_nothing
from ._small import draw_model, logits_of, model_of

#: (layer, silent heads) of the hidden cell's calls, by number of heads
CALLS = {3: [(0, [1]), (1, [0, 2]), (0, [2]), (1, [])], 4: [(1, [3]), (2, [0, 1]), (0, [0])]}


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for shape, sizes in (
        ((2, 6), {"vocabulary": 9, "dim": 12, "heads": 3, "layers": 2}),
        ((3, 5), {"vocabulary": 7, "dim": 16, "heads": 4, "layers": 3}),
    ):
        weights = draw_model(generator, sizes)
        ids = generator.integers(0, sizes["vocabulary"], shape)
        case = Case({"sizes": sizes, "calls": CALLS[sizes["heads"]]}, {"ids": ids}, weights)
        made.append(Case(case.config, case.inputs, weights, {}, {"logits": _silenced(case)}))
    return made


def _silenced(case: Case) -> np.ndarray:
    found = []
    for layer, silent in case.config["calls"]:
        model = model_of(case)
        weight = model.layers[layer].self_attn.o_proj.weight.data  # (dim, heads * head_size)
        weight.unflatten(1, (case.config["sizes"]["heads"], -1))[:, silent] = 0
        found.append(logits_of(model, case.inputs["ids"]))
    return np.stack(found)


HEAD = "def knock_out(model, ids, layer, heads):"
# Lines of the solution that mistakes change.
SPLIT = "outputs = inputs[0].unflatten(-1, (model.heads, -1)).clone()"
ZERO = "outputs[..., heads, :] = 0"
REMOVE = "    handle.remove()\n"
PLACE = "model.layers[layer].self_attn.o_proj"

MISTAKES = [
    Mistake("KNOCK-none", "Nothing is silenced: these are the model's own logits.",
            "What a pre-hook returns takes the inputs' place.",
            ("        return outputs.flatten(-2)\n", "        outputs.flatten(-2)\n")),
    Mistake("KNOCK-layout", "Every third or fourth number was silenced, not the numbers of one head.",
            "The heads stand end to end: unflatten the last axis to (heads, head_size).",
            (SPLIT, SPLIT.replace("(model.heads, -1)", "(-1, model.heads)")), (ZERO, "outputs[..., heads] = 0")),
    Mistake("KNOCK-others", "The heads in the list go on, and all others are silenced.", "The other way round.",
            (ZERO, "outputs[..., [head for head in range(model.heads) if head not in heads], :] = 0")),
    Mistake("KNOCK-all", "All heads of the layer are silenced.", "Only those in the list.", (ZERO, "outputs[:] = 0")),
    Mistake("KNOCK-first", "Only the first head of the list is silenced.", "All in the list.",
            (ZERO, "outputs[..., heads[:1], :] = 0")),
    Mistake("KNOCK-next", "The head after each of the list is silenced.", "Heads count from 0.",
            (ZERO, "outputs[..., [(head + 1) % model.heads for head in heads], :] = 0")),
    Mistake("KNOCK-layer", "Heads of another layer are silenced.", "Layers count from 0.",
            ("model.layers[layer]", "model.layers[(layer + 1) % len(model.layers)]")),
    Mistake("KNOCK-behind", "Numbers after o_proj were zeroed; there the heads are mixed already.",
            "The hook sits in front of o_proj.",
            ("register_forward_pre_hook(silence)", "register_forward_hook(silence)"),
            ("def silence(module, inputs):", "def silence(module, given, output):\n        inputs = [output]")),
    LEFT_HOOK.by((REMOVE, "")),
    LEFT_WEIGHTS.by(("    handle = ", f"    {PLACE}.weight.data.unflatten(1, (model.heads, -1))[:, heads] = 0\n"
                                      "    handle = ")),
    Mistake("KNOCK-last", "The heads are silenced at the last token alone.", "They are silenced at every token.",
            (ZERO, "outputs[:, -1, heads, :] = 0")),
    Mistake("KNOCK-end", "Heads of the last layer are silenced, whatever layer is asked for.",
            "The hook sits in the layer that is asked for.", ("model.layers[layer]", "model.layers[-1]")),
    Mistake("KNOCK-mean", "The heads still give their mean.", "A silent head gives nothing: zeros.",
            (ZERO, "outputs[..., heads, :] = outputs[..., heads, :].mean((0, 1))")),
]  # fmt: skip

RIGHT = {
    "factors of one and zero": variant(HEAD, """
        projection = model.layers[layer].self_attn.o_proj
        size = projection.in_features // model.heads
        keep = torch.ones(projection.in_features)
        for head in heads:
            keep[head * size : (head + 1) * size] = 0
        handle = projection.register_forward_pre_hook(lambda module, inputs: inputs[0] * keep)
        try:
            return model(ids)
        finally:
            handle.remove()
    """),
    "weights of zero, put back": variant(HEAD, """
        weight = model.layers[layer].self_attn.o_proj.weight
        kept = weight.detach().clone()
        with torch.no_grad():
            weight.unflatten(1, (model.heads, -1))[:, heads] = 0
            logits = model(ids)
            weight.copy_(kept)
        return logits
    """),
    "subtracted after o_proj": variant(HEAD, """
        attention = model.layers[layer].self_attn
        silent = torch.tensor([head in heads for head in range(model.heads)])

        def subtract(module, inputs, output):
            x = inputs[0].unflatten(-1, (model.heads, -1)) * silent[:, None]
            return output - x.flatten(-2) @ module.weight.T

        handle = attention.o_proj.register_forward_hook(subtract)
        logits = model(ids)
        handle.remove()
        return logits
    """),
    "a copy of the model": variant(HEAD, """
        import copy

        other = copy.deepcopy(model)
        with torch.no_grad():
            weight = other.layers[layer].self_attn.o_proj.weight
            size = weight.shape[1] // model.heads
            for head in heads:
                weight[:, head * size : (head + 1) * size] = 0.0
        return other(ids)
    """),
    "layer by layer by hand": variant(HEAD, """
        x = model.embed_tokens(ids)
        for number, block in enumerate(model.layers):
            if number != layer:
                x = block(x)
                continue
            seen = []
            handle = block.self_attn.o_proj.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
            block(x)
            handle.remove()
            parts = list(seen[0].chunk(model.heads, dim=-1))
            for head in heads:
                parts[head] = torch.zeros_like(parts[head])
            x = x + block.self_attn.o_proj(torch.cat(parts, dim=-1))
        return model.lm_head(model.norm(x))
    """),
    "a loop over the heads": [(ZERO, "for head in heads:\n            outputs[:, :, head] = 0.0")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, leaving_nothing, MISTAKES, right=RIGHT, framework="torch", atol=2e-5,
    shows=("the right heads are silenced", "at every token", "no hook is left"),
    accepted={"detach": "The logits are a measurement, through which nobody trains."},
)  # fmt: skip
