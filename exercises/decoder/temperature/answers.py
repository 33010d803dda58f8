"""Right and wrong temperatures."""

from __future__ import annotations

from .._answers import functions, wrong

HEAD = "def temperature(logits, value):"
WARM = "(logits / value).softmax(dim=-1)"
COLD = "F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)"
ACCEPTED = {"detach": "Words are drawn from these probabilities; nobody trains through them."}

RIGHT = functions(HEAD, {
    "F.softmax and zeros": """
        if value > 0:
            return F.softmax(logits / value, dim=1)
        result = torch.zeros_like(logits)
        result[torch.arange(len(logits)), logits.argmax(1)] = 1
        return result
    """,
    "row by row": """
        rows = []
        for row in logits:
            if value == 0:
                best = torch.zeros(len(row))
                best[int(row.argmax())] = 1
                rows.append(best)
            else:
                rows.append(torch.softmax(row / value, 0))
        return torch.stack(rows)
    """,
    "by hand, the largest subtracted": """
        if not value:
            return torch.eye(logits.shape[1])[logits.argmax(-1)]
        e = torch.exp((logits - logits.amax(-1, keepdim=True)) / value)
        return e / e.sum(-1, keepdim=True)
    """,
    "log_softmax": """
        if value == 0:
            return torch.zeros_like(logits).scatter(1, logits.argmax(1, keepdim=True), 1.0)
        return (logits / value).log_softmax(1).exp()
    """,
    "in double precision": """
        x = logits.double()
        if value == 0:
            return F.one_hot(x.argmax(-1), x.shape[-1]).double()
        return (x * (1 / value)).softmax(-1)
    """,
})  # fmt: skip

WRONG = [
    wrong("multiplied", "TEMP-times", (WARM, WARM.replace("/", "*"))),
    wrong("left out", "TEMP-none", (WARM, "logits.softmax(dim=-1)")),
    wrong("behind the softmax", "TEMP-behind", (WARM, "logits.softmax(dim=-1) / value")),
    wrong("softmax twice", "TEMP-twice", (WARM, "(logits.softmax(dim=-1) / value).softmax(dim=-1)")),
    wrong("over the batch", "TEMP-batch", (WARM, WARM.replace("-1", "0"))),
    wrong("no softmax", "TEMP-logits", (WARM, "logits / value")),
    wrong("the root", "TEMP-root", (WARM, WARM.replace("value", "value**0.5"))),
    wrong("exp without care", "TEMP-overflow",
          (WARM, "(logits / value).exp() / (logits / value).exp().sum(-1, keepdim=True)"), points=1),
    wrong("ties share", "TEMP-ties",
          (COLD, "(w := (logits == logits.amax(-1, keepdim=True)).float()) / w.sum(-1, keepdim=True)"), points=1),
    wrong("the last tie", "TEMP-last",
          (COLD, "F.one_hot(logits.shape[-1] - 1 - logits.flip(-1).argmax(dim=-1), logits.shape[-1]).float()"),
          points=1),
    wrong("divided by zero", "TEMP-zero", ("if value == 0:", "if value < 0:"), points=1),
    wrong("0 is the softmax", "TEMP-plain", (COLD, "logits.softmax(-1)"), points=1),
    wrong("changed in place", "CHANGED", (WARM, "logits.div_(value).softmax(dim=-1)")),
]  # fmt: skip
