"""Right and wrong answers to ``classification_head``."""

from autograder.exercise import SampleAnswer

from .._answers import CLASSIFICATION, CLASSIFICATION_INIT

CELL = "models.py"


def _wrong(name: str, code: str, mistake: str = "", points: float = 0) -> SampleAnswer:
    return SampleAnswer(name, methods={CLASSIFICATION: f"return {code}"}, points=points, mistake=mistake)


RIGHT = [
    SampleAnswer("step by step", methods={CLASSIFICATION: "x = self.dropout(pooled)\nx = self.linear(x)\nreturn x"}),
    SampleAnswer(
        "functional dropout",
        methods={
            CLASSIFICATION: """
            x = nn.functional.dropout(pooled, self.dropout.p, training=self.training)
            return nn.functional.linear(x, self.linear.weight, self.linear.bias)
            """
        },
    ),
    SampleAnswer(
        "picks the first token itself", methods={CLASSIFICATION: "return self.linear(self.dropout(pooled[:, 0, :]))"}
    ),
    SampleAnswer(
        "another order, and a Sequential",
        methods={
            CLASSIFICATION_INIT: """
            self.linear = nn.Linear(in_features=d_model, out_features=num_classes)
            self.dropout = nn.Dropout(p=dropout_prob)
            self.both = nn.Sequential(self.dropout, self.linear)
            """,
            CLASSIFICATION: "return self.both(pooled)",
        },
    ),
]
WRONG = [
    _wrong("softmax", "self.linear(self.dropout(pooled)).softmax(-1)", "M15-softmax"),
    _wrong("softmax over the batch", "self.linear(self.dropout(pooled)).softmax(0)", "M15-batch"),
    _wrong("log-softmax", "self.linear(self.dropout(pooled)).log_softmax(-1)", "M15-log"),
    _wrong("sigmoid", "self.linear(self.dropout(pooled)).sigmoid()", "M15-sigmoid"),
    _wrong("ReLU behind", "self.linear(self.dropout(pooled)).relu()", "M15-late"),
    _wrong("tanh before", "self.linear(self.dropout(pooled).tanh())", "M15-tanh"),
    _wrong("ReLU before", "self.linear(self.dropout(pooled).relu())", "M15-relu"),
    _wrong("dropout behind the layer", "self.dropout(self.linear(pooled))", "M16-late", 1.0),
    _wrong("cut from the graph", "self.linear(self.dropout(pooled)).detach()", "CUT"),
    _wrong("no dropout", "self.linear(pooled)", "M16-none", 1.0),
    _wrong(
        "a dropout that is not told its share",
        "self.linear(nn.functional.dropout(pooled, training=self.training))",
        "head-dropout",
        1.0,
    ),
    SampleAnswer(
        "another share",
        methods={CLASSIFICATION_INIT: "self.dropout = nn.Dropout(0.1)\nself.linear = nn.Linear(d_model, num_classes)"},
        points=1.0,
        mistake="head-dropout",
    ),
    SampleAnswer(
        "no bias",
        methods={
            CLASSIFICATION_INIT: """
            self.dropout = nn.Dropout(dropout_prob)
            self.linear = nn.Linear(d_model, num_classes, bias=False)
            """
        },
        points=1.0,
        mistake="head-bias",
    ),
    SampleAnswer(
        "sizes exchanged",
        methods={
            CLASSIFICATION_INIT: """
            self.dropout = nn.Dropout(dropout_prob)
            self.linear = nn.Linear(num_classes, d_model)
            """
        },
        points=0,
        mistake="sizes",
    ),
]
