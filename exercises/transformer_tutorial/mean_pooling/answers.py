"""Right and wrong averages of the real tokens."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import body


def pooling(name: str, lines: str) -> SampleAnswer:
    return SampleAnswer(name, "def mean_pooling(hidden_states, mask):\n" + body(lines))


def wrong(name: str, mistake: str, returned: str) -> SampleAnswer:
    text = f"def mean_pooling(hidden_states, mask):\n    real = mask.unsqueeze(-1)\n    return {returned}"
    return SampleAnswer(name, text, points=0, mistake=mistake)


RIGHT = [
    pooling("weights and a matrix product", """
        weights = mask / mask.sum(dim=1, keepdim=True)
        return (weights.unsqueeze(1) @ hidden_states).squeeze(1)
    """),
    pooling("sentence by sentence",
            "return torch.stack([states[real].mean(0) for states, real in zip(hidden_states, mask)])"),
    pooling("masked_fill and einsum", """
        kept = hidden_states.masked_fill(~mask.bool()[:, :, None], 0.0)
        return torch.einsum("btk->bk", kept) / mask.float().sum(1)[:, None]
    """),
    pooling("torch's own masked mean", "return torch.masked.mean(hidden_states, dim=1, mask=mask[..., None])"),
    pooling("nan for padding", """
        padded = torch.where(mask[..., None], hidden_states, torch.nan)
        return padded.double().nanmean(dim=1).float()
    """),
    pooling("torch.vmap over the sentences",
            "return torch.vmap(lambda states, real: real.to(states.dtype) @ states / real.sum())(hidden_states, mask)"),
    pooling("torch.average by a walrus", """
        total = hidden_states.mul(weights := mask[..., None].type_as(hidden_states)).sum(dim=-2)
        return total.div(weights.sum(dim=-2).clamp(min=1))
    """),
]  # fmt: skip

WRONG = [
    wrong("padding averaged in", "M15-padding", "hidden_states.mean(dim=1)"),
    wrong("divided by all tokens", "M15-length", "(hidden_states * real).mean(dim=1)"),
    wrong("padding in the sum", "M15-count", "hidden_states.sum(dim=1) / real.sum(dim=1)"),
    wrong("padding alone", "M15-inverted", "(hidden_states * ~real).sum(dim=1) / (~real).sum(dim=1)"),
    wrong(
        "as many tokens from the front as are real",
        "M15-front",
        "torch.stack([s[:int(c)].mean(0) for s, c in zip(hidden_states, mask.sum(1))])",
    ),
    wrong("the sum", "M15-sum", "(hidden_states * real).sum(dim=1)"),
    wrong("the first token", "M15-first", "hidden_states[:, 0]"),
    wrong("the maximum", "M15-max", 'hidden_states.masked_fill(~real, float("-inf")).max(dim=1).values'),
    wrong("divided by the batch's tokens", "M15-batch", "(hidden_states * real).sum(dim=1) / mask.sum()"),
    wrong("one too many", "M15-plus", "(hidden_states * real).sum(dim=1) / (real.sum(dim=1) + 1)"),
    wrong("over the wrong axis", "", "(hidden_states * real).mean(dim=2)"),
]
