"""Right and wrong answers to ``multi_head_init``."""

from autograder.exercise import SampleAnswer

from .._answers import HEAD_INIT, HEADS_INIT, NOT_BEGUN, SET_WEIGHTS

CELL = "models.py"

HEADS_OF = "self.heads = {heads}\nself.output_linear = nn.Linear(d_model, d_model)"
SIZE = "size = d_model // num_attention_heads\n"
NEW = "AttentionHead(d_model, size, size, size)"


def _wrong(name: str, heads: str, mistake: str = "") -> SampleAnswer:
    return SampleAnswer(name, methods={HEADS_INIT: SIZE + HEADS_OF.format(heads=heads)}, points=0, mistake=mistake)


RIGHT = [
    SampleAnswer(
        "appended in a loop, no word about sizes",
        methods={
            HEADS_INIT: """
            self.d_head = d_model // num_attention_heads
            self.heads = nn.ModuleList()
            for _ in range(num_attention_heads):
                self.heads.append(AttentionHead(d_model, self.d_head, self.d_head, self.d_head))
            self.output_linear = nn.Linear(d_model, d_model, bias=False)
            """
        },
    ),
    SampleAnswer(
        "an assertion",
        methods={
            HEADS_INIT: """
            assert d_model % num_attention_heads == 0, "d_model must be a multiple of num_attention_heads"
            size = int(d_model / num_attention_heads)
            self.heads = nn.ModuleList([AttentionHead(d_model, size, size, size) for _ in range(num_attention_heads)])
            self.output_linear = nn.Linear(d_model, d_model)
            """
        },
    ),
    SampleAnswer(
        "named arguments, the linear layer first",
        methods={
            HEADS_INIT: """
            self.output_linear = nn.Linear(d_model, d_model)
            sizes = dict.fromkeys(("d_k", "d_q", "d_v"), d_model // num_attention_heads)
            self.heads = nn.ModuleList(AttentionHead(d_model=d_model, **sizes) for _ in range(num_attention_heads))
            """
        },
    ),
    SampleAnswer(
        "a Sequential as list",
        methods={
            HEADS_INIT: """
            size = d_model // num_attention_heads
            self.heads = nn.Sequential(*(AttentionHead(d_model, size, size, size) for _ in range(num_attention_heads)))
            self.output_linear = nn.Linear(d_model, d_model)
            """
        },
    ),
    SampleAnswer("the heads' weights are set", methods={HEADS_INIT: SET_WEIGHTS}),
    SampleAnswer("heads that do not work yet", methods={HEAD_INIT: NOT_BEGUN}),
]
WRONG = [
    SampleAnswer(
        "the heads' weights are set, every head as wide as the model",
        methods={HEADS_INIT: SET_WEIGHTS.replace("size, size, size", "d_model, d_model, d_model")},
        points=0,
        mistake="heads-whole",
    ),
    SampleAnswer(
        "the heads' weights are set, what does not fit is left out without a word",
        methods={
            HEADS_INIT: SET_WEIGHTS.replace("assert", "pass  # assert").replace(
                "nn.Linear(d_model", "nn.Linear(size * num_attention_heads"
            )
        },
        points=0,
        mistake="heads-uneven",
    ),
    _wrong("a plain list", f"[{NEW} for _ in range(num_attention_heads)]", "M14-list"),
    _wrong("one head many times", f"nn.ModuleList([{NEW}] * num_attention_heads)", "M14-same"),
    _wrong("one head only", f"nn.ModuleList([{NEW}])", "M14-one"),
    _wrong("one head missing", f"nn.ModuleList({NEW} for _ in range(num_attention_heads - 1))", "M14-off"),
    _wrong("as many heads as a head has numbers", f"nn.ModuleList({NEW} for _ in range(size))", "M14-size"),
    _wrong(
        "every head as wide as the model",
        "nn.ModuleList(AttentionHead(d_model, d_model, d_model, d_model) for _ in range(num_attention_heads))",
        "heads-whole",
    ),
    _wrong(
        "every head reads its own part",
        "nn.ModuleList(AttentionHead(size, size, size, size) for _ in range(num_attention_heads))",
        "heads-narrow",
    ),
    _wrong(
        "number and size confused",
        "nn.ModuleList(AttentionHead(d_model, *3 * [num_attention_heads]) for _ in range(num_attention_heads))",
        "heads-count",
    ),
    SampleAnswer(
        "a size with a decimal point",
        methods={
            HEADS_INIT: SIZE.replace("//", "/")
            + HEADS_OF.format(heads=f"nn.ModuleList({NEW} for _ in range(num_attention_heads))")
        },
        points=0,
        mistake="heads-float",
    ),
    SampleAnswer(
        "what does not fit is left out without a word",
        methods={
            HEADS_INIT: SIZE
            + f"""
self.heads = nn.ModuleList({NEW} for _ in range(num_attention_heads))
self.output_linear = nn.Linear(size * num_attention_heads, d_model)
    """
        },
        points=0,
        mistake="heads-uneven",
    ),
]

NO_BIAS = "The assignment asks for a linear layer, d_model to d_model; eq. (2) has no bias in it, torch has one."
#: Differences that the exercise does not ask about.
ACCEPTED = {
    "MultiHeadAttention-ee2e6fea": NO_BIAS,
}
