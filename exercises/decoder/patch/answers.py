"""Right and wrong ways to patch an activation."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import function, right, wrong

PUT = "patched[:, token] = kept[0][:, token]"
REMOVE = "    handle.remove()\n    return logits"
CLEAN = "    model(clean)\n"


def patching(name: str, lines: str) -> SampleAnswer:
    return function(name, "patch(model, clean, corrupted, layer, token)", lines)


ACCEPTED = {"detach": "The logits are a measurement, through which nobody trains."}

RIGHT = [
    patching("a function for both runs", """
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
    patching("torch.where", """
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
    patching("both in one batch", """
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
    patching("layer by layer by hand", """
        x, y = model.embed_tokens(clean), model.embed_tokens(corrupted)
        for number, block in enumerate(model.layers):
            x, y = block(x), block(y)
            if number == layer:
                y = y.clone()
                y[:, token] = x[:, token]
        return model.lm_head(model.norm(y))
    """),
    patching("one hook for both runs", """
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
    right("a pause for the gradient", (CLEAN, "    with torch.no_grad():\n        model(clean)\n")),
]  # fmt: skip

WRONG = [
    wrong("nothing comes back from the hook", "PATCH-none", ("        return patched\n", "        return None\n")),
    wrong("clean and corrupted exchanged", "PATCH-swap", (CLEAN, "    model(corrupted)\n"),
          ("logits = model(corrupted)", "logits = model(clean)")),
    wrong("all tokens", "PATCH-all", (PUT, "patched = kept[0]")),
    wrong("what goes into the layer", "PATCH-before", ("kept.append(output)", "kept.append(inputs[0])"),
          ("def put(module, inputs, output):\n        patched = output.clone()",
           "def put(module, inputs):\n        patched = inputs[0].clone()"),
          ("model.layers[layer].register_forward_hook(put)", "model.layers[layer].register_forward_pre_hook(put)")),
    wrong("added", "PATCH-added", (PUT, "patched[:, token] += kept[0][:, token]")),
    wrong("the first sentence for all", "PATCH-batch", (PUT, "patched[:, token] = kept[0][0, token]")),
    wrong("all other tokens", "PATCH-swap",
          (PUT, "patched = kept[0].clone()\n        patched[:, token] = output[:, token]")),
    wrong("from the token on", "PATCH-from", (PUT, "patched[:, token:] = kept[0][:, token:]")),
    wrong("zeros", "PATCH-zero", (PUT, "patched[:, token] = 0")),
    wrong("the second hook stays", "LEFT-hook", (REMOVE, "    return logits"), points=1.5),
    wrong("token as a row of the batch", "", (PUT, "patched[token % len(patched)] = kept[0][token % len(patched)]")),
    wrong("the clean run's logits", "PATCH-all", ("logits = model(corrupted)", "logits = model(clean)")),
    wrong("the layer behind", "", ("model.layers[layer].register_forward_hook(put)",
                                   "model.layers[-1].register_forward_hook(put)")),
]  # fmt: skip
