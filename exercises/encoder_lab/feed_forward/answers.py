"""Right and wrong answers to ``feed_forward``."""

from autograder.exercise import SampleAnswer

from .._answers import NETWORK, NETWORK_INIT

CELL = "models.py"

WIDE = "self.linear_1(hidden_states)"


def _wrong(name: str, code: str, mistake: str = "") -> SampleAnswer:
    return SampleAnswer(name, methods={NETWORK: f"return {code}"}, points=0, mistake=mistake)


RIGHT = [
    SampleAnswer(
        "functional", methods={NETWORK: "return self.linear_2(nn.functional.gelu(self.linear_1(hidden_states)))"}
    ),
    SampleAnswer(
        "a Sequential of its own layers",
        methods={
            NETWORK_INIT: """
            self.linear_1, self.linear_2 = nn.Linear(d_model, intermediate_size), nn.Linear(intermediate_size, d_model)
            self.net = nn.Sequential(self.linear_1, nn.GELU(), self.linear_2, nn.Dropout(0.1))
            """,
            NETWORK: "return self.net(hidden_states)",
        },
    ),
    SampleAnswer(
        "the error function by hand",
        methods={
            NETWORK: """
            x = self.linear_1(hidden_states)
            return self.linear_2(0.5 * x * (1 + torch.erf(x / sqrt(2))))
            """
        },
    ),
    SampleAnswer(
        "no biases",
        methods={
            NETWORK_INIT: """
            self.linear_1 = nn.Linear(d_model, intermediate_size, bias=False)
            self.gelu = nn.GELU()
            self.linear_2 = nn.Linear(intermediate_size, d_model, bias=False)
            """,
            NETWORK: "return self.linear_2(self.gelu(self.linear_1(hidden_states)))",
        },
    ),
    SampleAnswer(
        "token by token",
        methods={
            NETWORK: """
            out = [self.linear_2(self.gelu(self.linear_1(token))) for sentence in hidden_states for token in sentence]
            return torch.stack(out).view_as(hidden_states)
            """
        },
    ),
    SampleAnswer(
        "layer by layer in a loop",
        methods={
            NETWORK: """
            for layer in (self.linear_1, self.gelu, self.linear_2, self.dropout):
                hidden_states = layer(hidden_states)
            return hidden_states
            """
        },
    ),
    SampleAnswer(
        "in float64, and back",
        methods={
            NETWORK: """
            linear, x = nn.functional.linear, hidden_states.double()
            for layer in (self.linear_1, self.linear_2):
                x = linear(x, layer.weight.double(), layer.bias.double())
                x = nn.functional.gelu(x) if layer is self.linear_1 else x
            return x.to(hidden_states.dtype)
            """
        },
    ),
]
WRONG = [
    _wrong("ReLU", f"self.linear_2(torch.relu({WIDE}))", "M12"),
    _wrong("tanh GELU", f"self.linear_2(nn.functional.gelu({WIDE}, approximate='tanh'))", "M12-tanh"),
    _wrong("no activation", f"self.linear_2({WIDE})", "M12-none"),
    _wrong("two GELUs", f"self.gelu(self.linear_2(self.gelu({WIDE})))", "M12-twice"),
    _wrong("GELU at the end", f"self.gelu(self.linear_2({WIDE}))", "M12-late"),
    _wrong("GELU at the beginning", "self.linear_2(self.linear_1(self.gelu(hidden_states)))", "M12-early"),
    _wrong("sigmoid", f"self.linear_2(torch.sigmoid({WIDE}))", "M12-sigmoid"),
    _wrong("SiLU", f"self.linear_2(nn.functional.silu({WIDE}))", "M12-silu"),
    _wrong("a skip too early", f"hidden_states + self.linear_2(self.gelu({WIDE}))", "M7-early"),
    _wrong("dropout in eval mode", f"nn.functional.dropout(self.linear_2(self.gelu({WIDE})), 0.5)", "M16"),
    SampleAnswer(
        "sizes exchanged",
        methods={
            NETWORK_INIT: """
            self.linear_1 = nn.Linear(intermediate_size, d_model)
            self.gelu = nn.GELU()
            self.linear_2 = nn.Linear(d_model, intermediate_size)
            """,
            NETWORK: f"return self.linear_2(self.gelu({WIDE}))",
        },
        points=0,
        mistake="M12-sizes",
    ),
    _wrong("cut from the graph", "self.linear_2(self.gelu(self.linear_1(hidden_states))).detach()", "CUT"),
    SampleAnswer(
        "what goes in is changed",
        methods={
            NETWORK: """
            wide = self.gelu(self.linear_1(hidden_states))
            hidden_states.zero_()
            return self.linear_2(wide)
            """
        },
        points=0,
        mistake="CHANGED",
    ),
]

NO_BIAS = "The comment asks for linear layers, without a word on the bias: an answer without one is right."
OPTIONAL = "The dropout is for those who like it, in the place and with the share that they like."
#: Differences that the exercise does not ask about.
ACCEPTED = {
    "FeedForward-e0c3c556": NO_BIAS,
    "FeedForward-e2b774bd": NO_BIAS,
    "FeedForward-34487782": OPTIONAL,
    "FeedForward-ef8c8f68": OPTIONAL,
    "FeedForward-eb071754": OPTIONAL,
    "FeedForward-c774c6d4": OPTIONAL,
    "FeedForward-a92f9e47": OPTIONAL,
    "FeedForward-7817459a": OPTIONAL,
}
