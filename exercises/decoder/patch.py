"""Activation patching. Expected answers: a loop over the layers, in which one vector is exchanged."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant

from ._rules import LEFT_HOOK, LEFT_WEIGHTS, leaving_nothing
from ._small import draw_model, logits_of, model_of


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for shape, sizes, calls in (
        ((2, 6), {"vocabulary": 9, "dim": 12, "heads": 3, "layers": 2}, [(0, 2), (1, 4), (0, 5)]),
        ((3, 5), {"vocabulary": 7, "dim": 16, "heads": 4, "layers": 3}, [(1, 0), (2, 3), (1, 2)]),
    ):
        inputs = {name: generator.integers(0, sizes["vocabulary"], shape) for name in ("clean", "corrupted")}
        case = Case({"sizes": sizes, "calls": calls}, inputs, draw_model(generator, sizes))
        made.append(Case(case.config, inputs, case.weights, {}, {"logits": _patched(case)}))
    return made


def _patched(case: Case) -> np.ndarray:
    model, found = model_of(case), []
    for layer, token in case.config["calls"]:
        kept: dict[int, Any] = {}
        logits_of(model, case.inputs["clean"], lambda number, x, kept=kept: kept.setdefault(number, x))

        def edit(number: int, x: Any, layer: int = layer, token: int = token, kept: dict[int, Any] = kept) -> Any:
            if number == layer:
                x = x.clone()
                x[:, token] = kept[number][:, token]
            return x

        found.append(logits_of(model, case.inputs["corrupted"], edit))
    return np.stack(found)


HEAD = "def patch(model, clean, corrupted, layer, token):"
# Lines of the solution that mistakes change.
PUT = "patched[:, token] = kept[0][:, token]"
REMOVE = "    handle.remove()\n    return logits"
CLEAN = "    model(clean)\n"
SWAPPED = ("Clean and corrupted are swapped.", "Keep from the clean run, put into the corrupted one.")
ALL = ("All tokens were patched.", "Only the one that is asked for: output[:, token].")

MISTAKES = [
    Mistake("PATCH-none", "Nothing was patched: these are the corrupted run's logits.",
            "What a hook returns takes the output's place.", ("        return patched\n", "        return None\n")),
    Mistake("PATCH-swap", *SWAPPED, (CLEAN, "    model(corrupted)\n"),
            ("logits = model(corrupted)", "logits = model(clean)")),
    Mistake("PATCH-swap", *SWAPPED, (PUT, "patched = kept[0].clone()\n        patched[:, token] = output[:, token]")),
    Mistake("PATCH-all", *ALL, (PUT, "patched = kept[0]")),
    Mistake("PATCH-all", *ALL, ("logits = model(corrupted)", "logits = model(clean)")),
    Mistake("PATCH-before", "What goes into the layer was patched, not what comes out.",
            "A forward hook sees the output.", ("kept.append(output)", "kept.append(inputs[0])"),
            ("def put(module, inputs, output):\n        patched = output.clone()",
             "def put(module, inputs):\n        patched = inputs[0].clone()"),
            ("model.layers[layer].register_forward_hook(put)", "model.layers[layer].register_forward_pre_hook(put)")),
    Mistake("PATCH-added", "The clean vector was added.", "It takes the corrupted one's place.",
            (PUT, "patched[:, token] += kept[0][:, token]")),
    Mistake("PATCH-batch", "All sentences got the vector of the first.", "Each sentence has its own.",
            (PUT, "patched[:, token] = kept[0][0, token]")),
    Mistake("PATCH-from", "The tokens after it were patched, too.", "One token: output[:, token].",
            (PUT, "patched[:, token:] = kept[0][:, token:]")),
    Mistake("PATCH-zero", "The vector was replaced by zeros.", "It is replaced by the clean run's.",
            (PUT, "patched[:, token] = 0")),
    LEFT_HOOK.by((REMOVE, "    return logits")),
    LEFT_WEIGHTS,
    Mistake("PATCH-row", "A sentence of the batch was replaced, not a token.",
            "output is (batch, tokens, d_model): its second axis holds the tokens.",
            (PUT, "patched[token % len(patched)] = kept[0][token % len(patched)]")),
    Mistake("", "the next layer", "",
            ("model.layers[layer].register_forward_hook(put)", "model.layers[-1].register_forward_hook(put)")),
]  # fmt: skip

RIGHT = {
    "a function for both runs": variant(HEAD, """
        def run(ids, hook):
            handle = model.layers[layer].register_forward_hook(hook)
            try:
                return model(ids)
            finally:
                handle.remove()

        seen = {}
        run(clean, lambda module, inputs, output: seen.update(vector=output[:, token].clone()))

        def put(module, inputs, output):
            return torch.cat([output[:, :token], seen["vector"][:, None], output[:, token + 1 :]], dim=1)

        return run(corrupted, put)
    """),
    "torch.where": variant(HEAD, """
        with torch.no_grad():
            streams = []
            place = model.layers[layer]
            first = place.register_forward_hook(lambda module, inputs, output: streams.append(output))
            model(clean)
            first.remove()
            here = (torch.arange(clean.shape[1]) == token)[None, :, None]
            second = place.register_forward_hook(lambda module, inputs, output: torch.where(here, streams[0], output))
            logits = model(corrupted)
            second.remove()
        return logits
    """),
    "both in one batch": variant(HEAD, """
        size = len(clean)

        def copy_over(module, inputs, output):
            output = output.clone()
            output[size:, token] = output[:size, token]
            return output

        handle = model.layers[layer].register_forward_hook(copy_over)
        logits = model(torch.cat([clean, corrupted]))[size:]
        handle.remove()
        return logits
    """),
    "layer by layer by hand": variant(HEAD, """
        x, y = model.embed_tokens(clean), model.embed_tokens(corrupted)
        for number, block in enumerate(model.layers):
            x, y = block(x), block(y)
            if number == layer:
                y = y.clone()
                y[:, token] = x[:, token]
        return model.lm_head(model.norm(y))
    """),
    "one hook for both runs": variant(HEAD, """
        kept = None

        def hook(module, inputs, output):
            nonlocal kept
            if kept is None:
                kept = output
                return None
            return output.index_copy(1, torch.tensor([token]), kept[:, [token]])

        handle = model.layers[layer].register_forward_hook(hook)
        model(clean)
        logits = model(corrupted)
        handle.remove()
        return logits
    """),
    "a pause for the gradient": [(CLEAN, "    with torch.no_grad():\n        model(clean)\n")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, leaving_nothing, MISTAKES, right=RIGHT, framework="torch", atol=2e-5,
    shows=("one token, one layer", "from clean to corrupted", "no hook is left"),
    accepted={"detach": "The logits are a measurement, through which nobody trains."},
)  # fmt: skip
