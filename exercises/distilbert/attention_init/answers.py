"""Projections that are right or wrong."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import IN_ORDER, MERGE, block, wrong

CELL = "attention_block_answer"

OTHER_ORDER = """
self.v_lin = nn.Linear(in_features=config.dim, out_features=config.all_head_size, bias=True)
self.k_lin = nn.Linear(in_features=config.dim, out_features=config.all_head_size, bias=True)
self.q_lin = nn.Linear(in_features=config.dim, out_features=config.all_head_size, bias=True)
"""
BY_NAME = """
for name in ("q_lin", "k_lin", "v_lin"):
    setattr(self, name, nn.Linear(config.n_heads * config.attention_head_size, config.dim))
"""
LISTED = IN_ORDER + "self.projections = nn.ModuleList([self.q_lin, self.k_lin, self.v_lin])\n"
FROM_LIST = (
    """
q, k, v = (p(hidden_states).view(batch, tokens, heads, size).transpose(1, 2) for p in self.projections)
weights = (q @ k.transpose(-2, -1) / math.sqrt(size)).softmax(-1)
context = weights @ v
"""
    + MERGE
)

ADDED = """
for name in ("k_lin", "q_lin", "v_lin"):
    self.add_module(name, nn.Linear(bias=True, out_features=config.dim, in_features=config.dim))
"""
WIDTHS = """
width: int = (heads := config.n_heads) * (size := config.attention_head_size)
self.q_lin, self.k_lin, self.v_lin = (nn.Linear(width, heads * size) for _ in range(3))
"""

RIGHT = [
    block("add_module, keywords in another order", init=ADDED),
    block("three at once, widths with a walrus", init=WIDTHS),
    SampleAnswer(
        "a property, a helper with type hints and __call__ overridden",
        block("").text.replace(
            "    def forward(self, hidden_states):",
            "    @property\n    def projections(self) -> tuple:\n        return self.q_lin, self.k_lin, self.v_lin\n\n"
            "    def __call__(self, hidden_states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:\n"
            "        return self.forward(hidden_states)\n\n"
            "    def forward(self, hidden_states):",
        ),
    ),
    block("projections in another order", init=OTHER_ORDER),
    block("projections by setattr", init=BY_NAME),
    block("projections in a ModuleList too", FROM_LIST, init=LISTED),
    SampleAnswer(
        "the old class name, subclassed",
        block("").text.replace("AttentionBlock", "DistillBertAttention")
        + "\n\nclass AttentionBlock(DistillBertAttention):\n    pass\n",
    ),
]

QUERY, KEY, VALUE = (f"self.{name}_lin = nn.Linear(config.dim, config.dim)" for name in "qkv")

WRONG = [
    wrong("the key without bias", "INIT-bias", (KEY, KEY.replace(".dim)", ".dim, bias=False)"))),
    wrong(
        "as wide as one head",
        "INIT-head",
        (QUERY, "self.q_lin = nn.Linear(config.dim, config.attention_head_size)"),
        (KEY, "self.k_lin = nn.Linear(config.dim, config.attention_head_size)"),
        (VALUE, "self.v_lin = nn.Linear(config.dim, config.attention_head_size)"),
    ),
    wrong(
        "as wide as the feed-forward network",
        "INIT-hidden",
        (QUERY, "self.q_lin = nn.Linear(config.dim, config.hidden_dim)"),
    ),
    wrong(
        "without bias",
        "INIT-bias",
        *((line, line.replace(".dim)", ".dim, bias=False)")) for line in (QUERY, KEY, VALUE)),
    ),
    wrong(
        "one layer under three names",
        "INIT-shared",
        (KEY, "self.k_lin = self.q_lin"),
        (VALUE, "self.v_lin = self.q_lin"),
    ),
    wrong("one layer for key and value", "INIT-pair", (VALUE, "self.v_lin = self.k_lin")),
    wrong(
        "sizes written as numbers",
        "INIT-literal",
        *((line, line.replace("config.dim", "768")) for line in (QUERY, KEY, VALUE)),
    ),
]

ACCEPTED = {
    "detach": "Nothing is trained in this assignment: the trained weights are loaded.",
}
