"""What right answers to the exercises on attention are made of."""

from __future__ import annotations

from autograder.exercise import variant

#: The head of multi-head attention, and the lines that its answers share: one head after the other, and all at once.
HEAD = "def apply_multihead_attention(x, W_q, W_k, W_v, W_o):"
LOOP = """heads = []
for h in range(len(W_q)):
    Q, K, V = x @ W_q[h], x @ W_k[h], x @ W_v[h]
    heads.append(softmax(Q @ K.T / Q.shape[1] ** 0.5) @ V)
"""
STACKS = """q, k, v = x @ W_q, x @ W_k, x @ W_v
o = softmax(q @ k.transpose(0, 2, 1) / 32**0.5) @ v
return o.transpose(1, 0, 2).reshape(len(x), -1) @ W_o
"""


def by_head(end: str = "return np.concatenate(heads, axis=1) @ W_o") -> str:
    """Multi-head attention, head by head."""
    return variant(HEAD, LOOP + end)
