"""What the lab's sample answers are written with: functions of a cell, and names for the methods of ``models.py``."""

from __future__ import annotations

from collections.abc import Callable

from autograder.exercise import variant

LOOK_SCALE = "They are divided by the root of the vectors' length, once."
LOOK_AXIS = "Is the softmax told which axis to use?"

#: The body of a method that the student has not begun.
NOT_BEGUN = "raise NotImplementedError()"

METHOD = ("AttentionHead", "scaled_dot_product_attention")
HEAD_INIT, HEAD = ("AttentionHead", "__init__"), ("AttentionHead", "forward")
HEADS_INIT, HEADS = ("MultiHeadAttention", "__init__"), ("MultiHeadAttention", "forward")
NETWORK_INIT, NETWORK = ("FeedForward", "__init__"), ("FeedForward", "forward")
EMBEDDINGS_INIT, EMBEDDINGS = ("Embeddings", "__init__"), ("Embeddings", "forward")
LAYER_INIT, LAYER = ("TransformerEncoderLayer", "__init__"), ("TransformerEncoderLayer", "forward")
ENCODER_INIT, ENCODER = ("TransformerEncoder", "__init__"), ("TransformerEncoder", "forward")
CLASSIFICATION_INIT, CLASSIFICATION = ("ClassificationHead", "__init__"), ("ClassificationHead", "forward")
MODEL = ("TransformerForSequenceClassification", "forward")
MODEL_INIT = ("TransformerForSequenceClassification", "__init__")

#: A head that returns output and weights, as its method does; and a multi-head attention that returns a pair.
RETURNS_PAIR = (HEAD, "x = hidden_states\nreturn self.scaled_dot_product_attention(self.wq(x), self.wk(x), self.wv(x))")
HEADS_PAIR = (
    HEADS,
    "return self.output_linear(torch.cat([head(hidden_states) for head in self.heads], dim=-1)), None",
)
#: A multi-head attention that sets its heads' weights.
SET_WEIGHTS = (HEADS_INIT, """
assert d_model % num_attention_heads == 0, "d_model must be a multiple of num_attention_heads"
size = d_model // num_attention_heads
self.heads = nn.ModuleList(AttentionHead(d_model, size, size, size) for _ in range(num_attention_heads))
self.output_linear = nn.Linear(d_model, d_model)
for head in self.heads:
    for layer in (head.wq, head.wk, head.wv):
        nn.init.xavier_uniform_(layer.weight)
""")  # fmt: skip


def returning(head: str, before: str = "") -> Callable[[str], str]:
    """What makes a whole function of what it returns. before: statements that come first."""
    return lambda code: variant(head, f"{before}\nreturn {code}")
