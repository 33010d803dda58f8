"""Right and wrong ways to silence heads."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import function, right, wrong

SPLIT = "outputs = inputs[0].unflatten(-1, (model.heads, -1)).clone()"
ZERO = "outputs[..., heads, :] = 0"
REMOVE = "    handle.remove()\n"
PLACE = "model.layers[layer].self_attn.o_proj"


def knock(name: str, lines: str) -> SampleAnswer:
    return function(name, "knock_out(model, ids, layer, heads)", lines)


ACCEPTED = {"detach": "The logits are a measurement, through which nobody trains."}

RIGHT = [
    knock("factors of one and zero", """
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
    knock("weights of zero, put back", """
        weight = model.layers[layer].self_attn.o_proj.weight
        kept = weight.detach().clone()
        with torch.no_grad():
            weight.unflatten(1, (model.heads, -1))[:, heads] = 0
            logits = model(ids)
            weight.copy_(kept)
        return logits
    """),
    knock("subtracted behind o_proj", """
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
    knock("a copy of the model", """
        import copy

        other = copy.deepcopy(model)
        with torch.no_grad():
            weight = other.layers[layer].self_attn.o_proj.weight
            size = weight.shape[1] // model.heads
            for head in heads:
                weight[:, head * size : (head + 1) * size] = 0.0
        return other(ids)
    """),
    knock("layer by layer by hand", """
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
    right("a loop over the heads", (ZERO, "for head in heads:\n            outputs[:, :, head] = 0.0")),
]  # fmt: skip

WRONG = [
    wrong("nothing comes back from the hook", "KNOCK-none",
          ("        return outputs.flatten(-2)\n", "        outputs.flatten(-2)\n")),
    wrong("heads interleaved", "KNOCK-layout", (SPLIT, SPLIT.replace("(model.heads, -1)", "(-1, model.heads)")),
          (ZERO, "outputs[..., heads] = 0")),
    wrong("all others silent", "KNOCK-others",
          (ZERO, "outputs[..., [head for head in range(model.heads) if head not in heads], :] = 0")),
    wrong("the whole layer", "KNOCK-all", (ZERO, "outputs[:] = 0")),
    wrong("the first of the list", "KNOCK-first", (ZERO, "outputs[..., heads[:1], :] = 0")),
    wrong("counted from 1", "KNOCK-next", (ZERO, "outputs[..., [(head + 1) % model.heads for head in heads], :] = 0")),
    wrong("another layer", "KNOCK-layer", ("model.layers[layer]", "model.layers[(layer + 1) % len(model.layers)]")),
    wrong("behind o_proj", "KNOCK-behind", ("register_forward_pre_hook(silence)", "register_forward_hook(silence)"),
          ("def silence(module, inputs):", "def silence(module, given, output):\n        inputs = [output]")),
    wrong("the hook stays", "LEFT-hook", (REMOVE, ""), points=1.5),
    wrong("weights stay zero", "LEFT-weights",
          ("    handle = ", f"    {PLACE}.weight.data.unflatten(1, (model.heads, -1))[:, heads] = 0\n    handle = "),
          points=1.5),
    wrong("only the last token", "", (ZERO, "outputs[:, -1, heads, :] = 0")),
    wrong("the last layer's heads", "", ("model.layers[layer]", "model.layers[-1]")),
    wrong("mean in place of nothing", "", (ZERO, "outputs[..., heads, :] = outputs[..., heads, :].mean((0, 1))")),
]  # fmt: skip
