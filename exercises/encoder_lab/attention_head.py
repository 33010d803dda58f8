"""``AttentionHead.forward``: three projections, then the method."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, Patch

from .._attention import linear
from ._answers import HEAD, HEAD_INIT, METHOD, NOT_BEGUN, RETURNS_PAIR
from ._arrays import linear_weight, normal
from ._layers import torch_attention
from ._rules import DROPPED, SIZES, attention_head


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for batch, tokens, d_model, d_k, d_v in ((2, 5, 12, 4, 3), (3, 6, 10, 3, 7), (1, 4, 9, 5, 2)):
        weights = {
            f"w{letter}.weight": linear_weight(generator, size, d_model)
            for letter, size in (("q", d_k), ("k", d_k), ("v", d_v))
        }
        hidden_states = normal(generator, batch, tokens, d_model)
        q, k, v = (linear(hidden_states, weights, name) for name in ("wq", "wk", "wv"))
        expected = {
            "wq": np.array([d_k, d_model]),
            "wk": np.array([d_k, d_model]),
            "wv": np.array([d_v, d_model]),
            "separate": np.array(True),
            "q": q,
            "k": k,
            "v": v,
            "output": torch_attention(q, k, v),
        }
        sizes = {"d_model": d_model, "d_k": d_k, "d_q": d_k, "d_v": d_v}
        made.append(Case(sizes, {"hidden_states": hidden_states}, weights, {}, expected))
    return made


PROJECT = "Project first, then attend."
EACH = "Three layers, each with its own work."


def forward(code: str) -> Patch:
    projected = "q, k, v = self.wq(hidden_states), self.wk(hidden_states), self.wv(hidden_states)"
    return HEAD, f"{projected}\nreturn {code}"


MISTAKES = [
    Mistake("head-shared", "Two of wq, wk and wv are one and the same layer: they can never learn different things.",
            "Make a new nn.Linear for each of them.", (HEAD_INIT, """
            self.wq = nn.Linear(d_model, d_q, bias=False)
            self.wk = self.wq
            self.wv = nn.Linear(d_model, d_v, bias=False)
        """)),
    Mistake("head-qk", "Query and key are swapped.", "The method takes q, k, v, in this order.",
            forward("self.scaled_dot_product_attention(k, q, v)[0]")),
    Mistake("head-raw-q", "The queries are the hidden states themselves: wq was not used.", PROJECT,
            forward("self.scaled_dot_product_attention(hidden_states, k, v)[0]")),
    Mistake("head-raw-k", "The keys are the hidden states themselves: wk was not used.", PROJECT,
            forward("self.scaled_dot_product_attention(q, hidden_states, v)[0]")),
    Mistake("head-raw-v", "The values are the hidden states themselves: wv was not used.", PROJECT,
            forward("self.scaled_dot_product_attention(q, k, hidden_states)[0]")),
    Mistake("head-same", "Queries and keys are both made by wq.", EACH,
            forward("self.scaled_dot_product_attention(q, self.wq(hidden_states), v)[0]")),
    Mistake("head-same-k", "Queries and keys are both made by wk.", EACH,
            forward("self.scaled_dot_product_attention(self.wk(hidden_states), k, v)[0]")),
    Mistake("head-weights", "forward returns the weights.", "The method gives two things; the first one is the output.",
            forward("self.scaled_dot_product_attention(q, k, v)[1]")),
    Mistake("head-sizes", "wq and wv have each other's sizes.",
            "The arguments come in the order d_model, d_k, d_q, d_v.", (HEAD_INIT, """
            self.wq = nn.Linear(d_model, d_v, bias=False)
            self.wk = nn.Linear(d_model, d_k, bias=False)
            self.wv = nn.Linear(d_model, d_q, bias=False)
        """)),
    SIZES,
    DROPPED,
    CHANGED,
    CUT.by(forward("self.scaled_dot_product_attention(q.detach(), k, v)[0]")),
    Mistake("", "an activation after the head", "",
            forward("torch.relu(self.scaled_dot_product_attention(q, k, v)[0])")),
]  # fmt: skip

RIGHT = {
    "returns a pair": [RETURNS_PAIR],
    "ready-made attention, not the method": [(HEAD, """
        x = hidden_states
        return nn.functional.scaled_dot_product_attention(self.wq(x), self.wk(x), self.wv(x))
    """)],
    "with biases, in another order": [(HEAD_INIT, """
        self.wv = nn.Linear(d_model, d_v)
        self.wk = nn.Linear(d_model, d_k)
        self.wq = nn.Linear(d_model, d_q)
    """)],
    "weights multiplied by hand": [(HEAD, """
        q, k, v = (hidden_states @ layer.weight.T for layer in (self.wq, self.wk, self.wv))
        out, _ = self.scaled_dot_product_attention(q, k, v)
        return out
    """)],
    "named arguments": [(HEAD_INIT, """
        for name, size in zip(("wq", "wk", "wv"), (d_q, d_k, d_v)):
            setattr(self, name, nn.Linear(in_features=d_model, out_features=size, bias=False))
    """)],
    "its own method wrong: that is paid for elsewhere": [(METHOD, NOT_BEGUN)],
    "functional_call, keyword arguments alone": [(HEAD, """
        call = torch.func.functional_call
        layers = (self.wq, self.wk, self.wv)
        q, k, v = (call(layer, dict(layer.named_parameters()), (hidden_states,)) for layer in layers)
        return self.scaled_dot_product_attention(q=q, k=k, v=v)[0]
    """)],
}  # fmt: skip

#: Mutants that have a bias in a projection.
BIASES = (
    "AttentionHead-69e5aed7", "AttentionHead-a80b9e66", "AttentionHead-fa59ed6b", "AttentionHead-c2c5269c",
    "AttentionHead-f8e749a3", "AttentionHead-d61aed36",
)  # fmt: skip

EXERCISE = Exercise(
    cases, attention_head, MISTAKES, right=RIGHT, cell="models.py", framework="torch",
    accepted=dict.fromkeys(BIASES, "One more thing to learn: the visible check says so, and it costs nothing."),
    shows=("wq, wk, wv", "projected, then attended", "returns the output"),
    axes={"q": "batch, n, d_q", "k": "batch, n, d_k", "v": "batch, n, d_v", "output": "batch, n, d_v"},
)  # fmt: skip
