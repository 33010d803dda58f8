"""``FeedForward``: linear, GELU, linear."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, Patch

from ._answers import NETWORK, NETWORK_INIT
from ._arrays import normal
from ._layers import feed_forward_weights
from ._rules import DROPPED, SIZES, feed_forward


def cases(generator: np.random.Generator) -> list[Case]:
    import torch
    from torch import nn

    made = []
    for batch, tokens, d_model, wide in ((2, 5, 6, 17), (3, 4, 7, 11), (1, 3, 5, 8)):
        weights = feed_forward_weights(generator, d_model, wide)
        x = normal(generator, batch, tokens, d_model, size=1.2)
        network = nn.Sequential(nn.Linear(d_model, wide), nn.GELU(), nn.Linear(wide, d_model)).double()
        stored = {name: torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()}
        layers = {"linear_1": "0", "linear_2": "2"}
        network.load_state_dict({layers[name[:8]] + name[8:]: weight for name, weight in stored.items()})
        with torch.no_grad():
            output = network(torch.from_numpy(x.astype(np.float64))).numpy()
        expected = {"linear_1": np.array([wide, d_model]), "linear_2": np.array([d_model, wide]), "output": output}
        made.append(Case({"d_model": d_model, "intermediate_size": wide}, {"hidden_states": x}, weights, {}, expected))
    return made


BETWEEN = "It belongs between the two layers."
WIDE = "self.linear_1(hidden_states)"


def forward(code: str) -> Patch:
    return NETWORK, f"return {code}"


MISTAKES = [
    Mistake("M12", "The activation is a ReLU; the assignment asks for a GELU.", "nn.GELU",
            forward(f"self.linear_2(torch.relu({WIDE}))")),
    Mistake("M12-tanh", "This is GELU's tanh approximation; the assignment asks for the exact one.",
            "nn.GELU without further arguments is exact.",
            forward(f"self.linear_2(nn.functional.gelu({WIDE}, approximate='tanh'))")),
    Mistake("M12-none", "There is no activation: two linear layers are one.", "A GELU belongs between them.",
            forward(f"self.linear_2({WIDE})")),
    Mistake("M12-twice", "A second GELU comes after the second layer.", "One, between the two layers.",
            forward(f"self.gelu(self.linear_2(self.gelu({WIDE})))")),
    Mistake("M12-late", "The GELU comes after the second layer.", BETWEEN,
            forward(f"self.gelu(self.linear_2({WIDE}))")),
    Mistake("M12-early", "The GELU comes before the first layer.", BETWEEN,
            forward("self.linear_2(self.linear_1(self.gelu(hidden_states)))")),
    Mistake("M12-sigmoid", "The activation is a sigmoid; the assignment asks for a GELU.", "nn.GELU",
            forward(f"self.linear_2(torch.sigmoid({WIDE}))")),
    Mistake("M12-silu", "The activation is a SiLU (swish); the assignment asks for a GELU.", "nn.GELU",
            forward(f"self.linear_2(nn.functional.silu({WIDE}))")),
    Mistake("M7-early", "The input was added to the output.", "The skip belongs to the layer, not to the network.",
            forward(f"hidden_states + self.linear_2(self.gelu({WIDE}))")),
    Mistake("M12-sizes", "The two layers have each other's sizes.", "From narrow to wide and back again.",
            (NETWORK_INIT, """
            self.linear_1 = nn.Linear(intermediate_size, d_model)
            self.gelu = nn.GELU()
            self.linear_2 = nn.Linear(d_model, intermediate_size)
        """), forward(f"self.linear_2(self.gelu({WIDE}))")),
    SIZES,
    DROPPED.by(forward(f"nn.functional.dropout(self.linear_2(self.gelu({WIDE})), 0.5)")),
    CHANGED.by((NETWORK, """
            wide = self.gelu(self.linear_1(hidden_states))
            hidden_states.zero_()
            return self.linear_2(wide)
        """)),
    CUT.by(forward(f"self.linear_2(self.gelu({WIDE})).detach()")),
]  # fmt: skip

RIGHT = {
    "functional": [(NETWORK, "return self.linear_2(nn.functional.gelu(self.linear_1(hidden_states)))")],
    "a Sequential of its own layers": [(NETWORK_INIT, """
        self.linear_1, self.linear_2 = nn.Linear(d_model, intermediate_size), nn.Linear(intermediate_size, d_model)
        self.net = nn.Sequential(self.linear_1, nn.GELU(), self.linear_2, nn.Dropout(0.1))
    """), (NETWORK, "return self.net(hidden_states)")],
    "the error function by hand": [(NETWORK, """
        x = self.linear_1(hidden_states)
        return self.linear_2(0.5 * x * (1 + torch.erf(x / sqrt(2))))
    """)],
    "no biases": [(NETWORK_INIT, """
        self.linear_1 = nn.Linear(d_model, intermediate_size, bias=False)
        self.gelu = nn.GELU()
        self.linear_2 = nn.Linear(intermediate_size, d_model, bias=False)
    """), forward(f"self.linear_2(self.gelu({WIDE}))")],
    "token by token": [(NETWORK, """
        out = [self.linear_2(self.gelu(self.linear_1(token))) for sentence in hidden_states for token in sentence]
        return torch.stack(out).view_as(hidden_states)
    """)],
    "layer by layer in a loop": [(NETWORK, """
        for layer in (self.linear_1, self.gelu, self.linear_2, self.dropout):
            hidden_states = layer(hidden_states)
        return hidden_states
    """)],
    "in float64, and back": [(NETWORK, """
        linear, x = nn.functional.linear, hidden_states.double()
        for layer in (self.linear_1, self.linear_2):
            x = linear(x, layer.weight.double(), layer.bias.double())
            x = nn.functional.gelu(x) if layer is self.linear_1 else x
        return x.to(hidden_states.dtype)
    """)],
}  # fmt: skip

BIASES = ("FeedForward-e0c3c556", "FeedForward-e2b774bd")
DROPOUTS = (
    "FeedForward-34487782", "FeedForward-ef8c8f68", "FeedForward-eb071754", "FeedForward-c774c6d4",
    "FeedForward-a92f9e47", "FeedForward-7817459a",
)  # fmt: skip
NO_BIAS = "The comment asks for linear layers, without a word on the bias."
OPTIONAL = "The dropout is for those who like it, in the place and with the share that they like."

EXERCISE = Exercise(
    cases, feed_forward, MISTAKES, right=RIGHT, cell="models.py", framework="torch",
    accepted=dict.fromkeys(BIASES, NO_BIAS) | dict.fromkeys(DROPOUTS, OPTIONAL),
    shows=("narrow to wide and back", "exact GELU between the layers"),
    axes={"output": "batch, n, d_model"},
)  # fmt: skip
