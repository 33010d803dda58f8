"""Right and wrong ways from scores to the output."""

from __future__ import annotations

from .._answers import attention, right, wrong

CELL = "dot_product_attention_answer"
WEIGHTS = "weights = self.dropout(F.softmax(score, dim=2))"
OUT = "out = torch.bmm(weights, values)"
SOFTMAX = "F.softmax(score, dim=2)"

RIGHT = [
    attention("torch's own attention", """
        q, k_, v = (x.transpose(1, 2) for x in (queries, keys, values))
        allowed = None if mask is None else mask[:, None, None, :]
        rate = self.dropout.p if self.training else 0.0
        out = F.scaled_dot_product_attention(q, k_, v, attn_mask=allowed, dropout_p=rate)
        return out.transpose(1, 2).reshape(b, t, -1)
    """),
    right("softmax of the last axis, and the operator @", (SOFTMAX, "score.softmax(-1)"),
          (OUT, "out = weights @ values")),
    right("exponential of the score less its logsumexp",
          (SOFTMAX, "(score - score.logsumexp(dim=2, keepdim=True)).exp()")),
    right("einsum", (OUT, 'out = torch.einsum("bqm,bmk->bqk", weights, values)')),
    right("a layer nn.Softmax, made on the spot", (SOFTMAX, "nn.Softmax(dim=-1)(score)")),
    right("torch.vmap over the rows of the batch", (OUT, "out = torch.vmap(torch.matmul)(weights, values)")),
    right("a softmax in float64, and back", (SOFTMAX, "score.double().softmax(dim=-1).to(score.dtype)")),
]  # fmt: skip

WRONG = [
    wrong("softmax over the queries", "M1", ("dim=2", "dim=1")),
    wrong("softmax over the batch", "M1-batch", ("dim=2", "dim=0")),
    wrong("no softmax", "M1-none", (SOFTMAX, "score")),
    wrong("softmax twice", "M1-twice", (SOFTMAX, f"F.softmax({SOFTMAX}, dim=2)")),
    wrong("weights transposed", "M4-transposed", (OUT, "out = torch.bmm(weights.transpose(1, 2), values)")),
    wrong("softmax behind the values", "M9-late", (WEIGHTS, "weights = self.dropout(score)"),
          (OUT, "out = F.softmax(torch.bmm(weights, values), dim=2)"), attention_dropout=0),
    wrong("exponential by hand", "M1-overflow", (SOFTMAX, "score.exp() / score.exp().sum(2, keepdim=True)")),
    wrong("values set to 0 behind their use", "CHANGED", (OUT, f"{OUT}\n        values.zero_()")),
    wrong("the weights cut from the graph", "CUT", (SOFTMAX, f"{SOFTMAX}.detach()")),
]  # fmt: skip
