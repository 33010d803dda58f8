"""The gated feed-forward network. Expected answers: transformers' own LlamaMLP."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, UNSTEADY, Case, Exercise, Mistake, variant

from ._llama import loaded, network_weights, tensor
from ._rules import MADE_EXTRA, MADE_MISSING, MADE_SIZE, with_parts


def cases(generator: np.random.Generator) -> list[Case]:
    from course.modern_parts import ReadySwiGLU

    made = []
    for shape, hidden in (((2, 3, 6), 10), ((4, 3, 8), 5), ((1, 4, 6), 7)):
        weights = network_weights(generator, shape[-1], hidden)
        x = generator.normal(0, 1.5, shape).astype(np.float32)
        output = loaded(ReadySwiGLU(shape[-1], hidden), weights)(tensor(x)).detach().numpy()
        made.append(Case({"dim": shape[-1], "hidden": hidden}, {"x": x}, weights, {}, {"output": output}))
    return made


# Lines of the solution that mistakes change.
GATE, UP = "F.silu(self.gate_proj(x))", "self.up_proj(x)"
GATED = f"{GATE} * {UP}"
MADE_UP = "self.up_proj = nn.Linear(dim, hidden, bias=False)"
OTHER = "SwiGLU's is SiLU."

MISTAKES = [
    Mistake("SWI-relu", "The activation is ReLU.", OTHER, ("F.silu", "F.relu")),
    Mistake("SWI-gelu", "The activation is GELU.", OTHER, ("F.silu", "F.gelu")),
    Mistake("SWI-sigmoid", "The gate is a plain sigmoid.", "SiLU is x · sigmoid(x).", ("F.silu", "torch.sigmoid")),
    Mistake("SWI-tanh", "The activation is tanh.", OTHER, ("F.silu", "torch.tanh")),
    Mistake("SWI-none", "The activation is missing.", "The gate goes through SiLU.", ("F.silu", "")),
    Mistake("SWI-up", "The activation is on the wrong side: up_proj has none.", "The gate goes through SiLU.",
            (GATED, f"self.gate_proj(x) * F.silu({UP})")),
    Mistake("SWI-both", "Both sides go through the activation.", "Only the gate does.",
            (GATED, f"{GATE} * F.silu({UP})")),
    Mistake("SWI-product", "The activation was applied to the product.", "Activate the gate, then multiply.",
            (GATED, f"F.silu(self.gate_proj(x) * {UP})")),
    Mistake("SWI-plus", "Gate and up were added.", "They are multiplied, number by number.",
            (GATED, f"{GATE} + {UP}")),
    Mistake("SWI-no-up", "up_proj is not used.", "The activated gate is multiplied by it.", (GATED, GATE)),
    Mistake("SWI-no-gate", "gate_proj is not used.", "Activated, it is multiplied by up_proj's output.",
            (GATED, f"F.silu({UP})")),
    Mistake("SWI-softmax", "The gate is a softmax.", "SwiGLU's activation is SiLU.",
            (GATE, "self.gate_proj(x).softmax(-1)")),
    MADE_MISSING,
    MADE_SIZE.by(("nn.Linear(hidden, dim, bias=False)", "nn.Linear(dim, hidden, bias=False)")),
    MADE_EXTRA.by((MADE_UP, "self.up_proj = nn.Linear(dim, hidden)")),
    CHANGED.by((GATED, f"{GATED} + 0 * x.mul_(1.5).sum()")),
    CUT.by((GATE, f"{GATE}.detach()")),
    UNSTEADY,
]  # fmt: skip

INIT = """class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden, bias=False)
        self.up_proj = nn.Linear(dim, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, dim, bias=False)
"""
HEAD = INIT + "\n    def forward(self, x):"
RIGHT = {
    "sigmoid by hand": variant(HEAD, """
        gate = self.gate_proj(x)
        return self.down_proj(gate * torch.sigmoid(gate) * self.up_proj(x))
    """),
    "a module for the activation": variant(
        INIT + "        self.act = nn.SiLU()\n\n    def forward(self, x):",
        "return self.down_proj(self.act(self.gate_proj(x)).mul(self.up_proj(x)))"),
    "matrices by hand": variant(HEAD, """
        gate, up = x @ self.gate_proj.weight.T, x @ self.up_proj.weight.T
        return (gate / (1 + torch.exp(-gate)) * up) @ self.down_proj.weight.T
    """),
    "torch's glu parts": variant(HEAD, """
        both = torch.cat([self.gate_proj(x), self.up_proj(x)], dim=-1)
        gate, up = both.chunk(2, dim=-1)
        return F.linear(up * F.silu(gate), self.down_proj.weight)
    """),
    "einsum": """class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        for layer in ("gate_proj", "up_proj"):
            setattr(self, layer, nn.Linear(dim, hidden, bias=False))
        self.down_proj = nn.Linear(in_features=hidden, out_features=dim, bias=False)

    def forward(self, x):
        hidden = torch.einsum("...h,...h->...h", self.up_proj(x), F.silu(self.gate_proj(x)))
        return self.down_proj(hidden)
""",
    "the other way round": [(GATED, f"{UP} * {GATE}")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, with_parts, MISTAKES, right=RIGHT, framework="torch",
    shows=("three layers without bias", "gate times up", "SiLU on the gate alone"),
)  # fmt: skip
