"""The lines that sample answers of several exercises share."""

from __future__ import annotations

from textwrap import dedent, indent

#: Queries, keys and values of one head, of all heads at once, and head by head.
QKV = "Q, K, V = x @ W_q, x @ W_k, x @ W_v\n"
STACKS = "q, k, v = x @ W_q, x @ W_k, x @ W_v\n"
LOOP = """heads = []
for h in range(len(W_q)):
    Q, K, V = x @ W_q[h], x @ W_k[h], x @ W_v[h]
    heads.append(softmax(Q @ K.T / Q.shape[1] ** 0.5) @ V)
"""
#: The heads' outputs ``o`` laid end to end, and projected.
MERGE = "return o.transpose(1, 0, 2).reshape(len(x), -1) @ W_o"
#: The right weights of all heads at once.
WEIGHTS = "softmax(q @ k.transpose(0, 2, 1) / 32**0.5)"
#: A softmax along any axis.
AXIS = "(lambda s, a: np.exp(s - s.max(a, keepdims=True)) / np.exp(s - s.max(a, keepdims=True)).sum(a, keepdims=True))"


def as_softmax(body: str) -> str:
    return _function("softmax(x)", body)


def as_self_attention(body: str) -> str:
    return _function("apply_self_attention(x, W_q, W_k, W_v, W_o)", body)


def as_multihead_attention(body: str) -> str:
    return _function("apply_multihead_attention(x, W_q, W_k, W_v, W_o)", body)


def stacked(weights: str, merge: str = MERGE, values: str = "v") -> str:
    """Multi-head attention without a loop, whose weights are the expression ``weights`` of q and k."""
    return as_multihead_attention(f"{STACKS}o = ({weights}) @ {values}\n{merge}")


def _function(signature: str, body: str) -> str:
    return f"def {signature}:\n" + indent(dedent(body).strip("\n"), "    ")


#: For a softmax that is right for one table of scores alone: multi-head attention that asks it for one at a time.
HEAD_BY_HEAD = {
    "multihead_attention_answer": as_multihead_attention(LOOP + "return np.concatenate(heads, axis=1) @ W_o")
}
