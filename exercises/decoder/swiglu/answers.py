"""Right and wrong gated networks."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import module, right, wrong

GATED = "F.silu(self.gate_proj(x)) * self.up_proj(x)"
UP = "self.up_proj = nn.Linear(dim, hidden, bias=False)"
INIT = """
    self.gate_proj = nn.Linear(dim, hidden, bias=False)
    self.up_proj = nn.Linear(dim, hidden, bias=False)
    self.down_proj = nn.Linear(hidden, dim, bias=False)
"""


def network(name: str, lines: str, init: str = INIT) -> SampleAnswer:
    return module(name, "SwiGLU", "dim, hidden", init, "x", lines)


RIGHT = [
    network("sigmoid by hand", """
        gate = self.gate_proj(x)
        return self.down_proj(gate * torch.sigmoid(gate) * self.up_proj(x))
    """),
    network("a module for the activation", "return self.down_proj(self.act(self.gate_proj(x)).mul(self.up_proj(x)))",
            INIT + "\n    self.act = nn.SiLU()"),
    network("matrices by hand", """
        gate, up = x @ self.gate_proj.weight.T, x @ self.up_proj.weight.T
        return (gate / (1 + torch.exp(-gate)) * up) @ self.down_proj.weight.T
    """),
    network("torch's glu parts", """
        both = torch.cat([self.gate_proj(x), self.up_proj(x)], dim=-1)
        gate, up = both.chunk(2, dim=-1)
        return F.linear(up * F.silu(gate), self.down_proj.weight)
    """),
    network("einsum", """
        hidden = torch.einsum("...h,...h->...h", self.up_proj(x), F.silu(self.gate_proj(x)))
        return self.down_proj(hidden)
    """, """
        for layer in ("gate_proj", "up_proj"):
            setattr(self, layer, nn.Linear(dim, hidden, bias=False))
        self.down_proj = nn.Linear(in_features=hidden, out_features=dim, bias=False)
    """),
    right("the other way round", (GATED, "self.up_proj(x) * F.silu(self.gate_proj(x))")),
]  # fmt: skip

WRONG = [
    wrong("ReLU", "SWI-relu", ("F.silu", "F.relu")),
    wrong("GELU", "SWI-gelu", ("F.silu", "F.gelu")),
    wrong("a plain sigmoid", "SWI-sigmoid", ("F.silu", "torch.sigmoid")),
    wrong("tanh", "SWI-tanh", ("F.silu", "torch.tanh")),
    wrong("no activation", "SWI-none", ("F.silu(self.gate_proj(x))", "self.gate_proj(x)")),
    wrong("activation on the other side", "SWI-up", (GATED, "self.gate_proj(x) * F.silu(self.up_proj(x))")),
    wrong("activation on both sides", "SWI-both", (GATED, "F.silu(self.gate_proj(x)) * F.silu(self.up_proj(x))")),
    wrong("activation of the product", "SWI-product", (GATED, "F.silu(self.gate_proj(x) * self.up_proj(x))")),
    wrong("a sum", "SWI-plus", (") * self.up_proj", ") + self.up_proj")),
    wrong("no up", "SWI-no-up", (" * self.up_proj(x)", "")),
    wrong("no gate", "SWI-no-gate", (GATED, "F.silu(self.up_proj(x))")),
    wrong("softmax", "SWI-softmax", ("F.silu(self.gate_proj(x))", "self.gate_proj(x).softmax(-1)")),
    wrong("with bias", "MADE-extra", (UP, "self.up_proj = nn.Linear(dim, hidden)"), points=1),
    wrong("sizes exchanged", "MADE-size", ("nn.Linear(hidden, dim, bias=False)", "nn.Linear(dim, hidden, bias=False)"),
          points=1),
    wrong("cut off", "CUT", ("F.silu(self.gate_proj(x))", "F.silu(self.gate_proj(x)).detach()")),
]  # fmt: skip
