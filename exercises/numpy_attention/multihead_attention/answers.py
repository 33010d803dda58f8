"""Right and wrong answers to ``apply_multihead_attention``."""

from autograder.exercise import SampleAnswer

from .._answers import AXIS, LOOP, MERGE, WEIGHTS, as_multihead_attention, stacked

RIGHT = [
    SampleAnswer(
        "the course's own, with a list",
        as_multihead_attention("""
        out_list = []
        for h in range(n_heads):
            Q, K, V = x @ W_q[h], x @ W_k[h], x @ W_v[h]
            A = softmax(Q @ K.T / (d_qkv ** 0.5))
            out_list.append(np.einsum('ij,jk->jik', A, V).sum(axis=0))
        return np.concatenate(out_list, axis=1) @ W_o
    """),
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "by the single head",
        as_multihead_attention("""
        d = W_q.shape[2]
        return sum(apply_self_attention(x, W_q[h], W_k[h], W_v[h], W_o[h * d:(h + 1) * d]) for h in range(len(W_q)))
    """),
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "one matrix, then split",
        as_multihead_attention("""
        h, m, d = W_q.shape
        split = lambda W: (x @ W.transpose(1, 0, 2).reshape(m, h * d)).reshape(len(x), h, d).swapaxes(0, 1)
        q, k, v = split(W_q), split(W_k), split(W_v)
        o = softmax((q @ k.swapaxes(1, 2) / np.sqrt(d)).reshape(-1, len(x))).reshape(h, len(x), len(x)) @ v
        return np.hstack(o) @ W_o
    """),
    ),
    SampleAnswer(
        "pure einsum",
        as_multihead_attention("""
        q, k, v = (np.einsum('im,hmd->hid', x, W) for W in (W_q, W_k, W_v))
        s = np.einsum('hid,hjd->hij', q, k) / np.sqrt(q.shape[-1])
        e = np.exp(s - s.max(-1, keepdims=True))
        a = e / e.sum(-1, keepdims=True)
        return np.einsum('hij,hjd,hdm->im', a, v, W_o.reshape(len(W_q), -1, W_o.shape[1]))
    """),
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "float32 inside",
        as_multihead_attention("""
        x, W_q, W_k, W_v, W_o = (a.astype(np.float32) for a in (x, W_q, W_k, W_v, W_o))
        q, k, v = x @ W_q, x @ W_k, x @ W_v
        a = np.stack([softmax(s) for s in q @ k.transpose(0, 2, 1) / np.sqrt(np.float32(q.shape[2]))])
        return np.concatenate(list(a @ v), axis=-1) @ W_o
    """),
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "filled column by column",
        as_multihead_attention("""
        y = np.zeros((len(x), len(W_o)))
        for head, (q, k, v) in enumerate(zip(W_q, W_k, W_v)):
            a = softmax((x @ q) @ (x @ k).T / np.sqrt(q.shape[1]))
            y[:, head * q.shape[1]:(head + 1) * q.shape[1]] = a @ (x @ v)
        return y @ W_o
    """),
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "a comprehension, type hints, a walrus",
        as_multihead_attention("""
        heads: list[np.ndarray] = [
            softmax((q := x @ w_q) @ (x @ w_k).T / np.sqrt(q.shape[-1])) @ (x @ w_v)
            for w_q, w_k, w_v in zip(W_q, W_k, W_v)
        ]
        return np.concatenate(heads, axis=-1) @ W_o
    """),
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "tensordot, and a sum over the heads",
        as_multihead_attention("""
        q, k, v = (np.moveaxis(np.tensordot(x, W, axes=(1, 1)), 1, 0) for W in (W_q, W_k, W_v))
        mixed = np.matmul(softmax(np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(W_q.shape[-1])), v)
        return np.matmul(mixed, W_o.reshape(len(W_q), -1, W_o.shape[-1])).sum(axis=0)
    """),
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "float64 inside, keyword arguments alone",
        as_multihead_attention("""
        q, k, v = (np.einsum('im,hmd->hid', x.astype(np.float64), W, optimize=True) for W in (W_q, W_k, W_v))
        weights = softmax(x=np.einsum('hid,hjd->hij', q, k) / np.sqrt(k.shape[2]))
        return np.hstack(tup=list(np.einsum('hij,hjd->hid', weights, v))) @ W_o
    """),
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "a list",
        as_multihead_attention(LOOP + "return (np.concatenate(heads, axis=1) @ W_o).tolist()"),
        costs={"no_loops": 0},
    ),
]

WRONG = [
    SampleAnswer(
        "softmax over the heads",
        stacked(f"{AXIS}(q @ k.transpose(0, 2, 1) / 32**0.5, 0)"),
        points=3,
        mistake="M1-heads",
    ),
    SampleAnswer(
        "softmax over axis 1 of three",
        stacked(f"{AXIS}(q @ k.transpose(0, 2, 1) / 32**0.5, 1)"),
        points=3,
        mistake="M1",
    ),
    SampleAnswer("no softmax", stacked("q @ k.transpose(0, 2, 1) / 32**0.5"), points=3, mistake="M1-none"),
    SampleAnswer("not scaled", stacked("softmax(q @ k.transpose(0, 2, 1))"), points=3, mistake="M2"),
    SampleAnswer("divided by d", stacked("softmax(q @ k.transpose(0, 2, 1) / 32)"), points=3, mistake="M3"),
    SampleAnswer(
        "root of all heads' widths",
        stacked("softmax(q @ k.transpose(0, 2, 1) / len(W_o)**0.5)"),
        points=3,
        mistake="M3-heads",
    ),
    SampleAnswer(
        "root of d_model", stacked("softmax(q @ k.transpose(0, 2, 1) / x.shape[1]**0.5)"), points=3, mistake="M3-model"
    ),
    SampleAnswer("keys not transposed", stacked("softmax(q @ k / 32**0.5)"), points=0, mistake="M4"),
    SampleAnswer(
        "query and key exchanged", stacked("softmax(k @ q.transpose(0, 2, 1) / 32**0.5)"), points=3, mistake="M4-swap"
    ),
    SampleAnswer("weights transposed", stacked(f"{WEIGHTS}.transpose(0, 2, 1)"), points=3, mistake="M4-transposed"),
    SampleAnswer(
        "stack reshaped, not transposed",
        as_multihead_attention("""
        Q, K, V = (x @ W.reshape(x.shape[1], -1) for W in (W_q, W_k, W_v))
        split = lambda a: a.reshape(len(x), 8, 32).transpose(1, 0, 2)
        o = softmax(split(Q) @ split(K).transpose(0, 2, 1) / 32**0.5) @ split(V)
        return o.transpose(1, 0, 2).reshape(len(x), -1) @ W_o
    """),
        points=3,
        mistake="M5",
    ),
    SampleAnswer(
        "merged without moving the axis", stacked(WEIGHTS, "return o.reshape(len(x), -1) @ W_o"), points=3, mistake="M6"
    ),
    SampleAnswer(
        "interleaved",
        stacked(WEIGHTS, "return o.transpose(1, 2, 0).reshape(len(x), -1) @ W_o"),
        points=3,
        mistake="HEADS-interleaved",
    ),
    SampleAnswer(
        "reversed",
        as_multihead_attention(LOOP + "return np.concatenate(heads[::-1], axis=1) @ W_o"),
        points=3,
        mistake="HEADS-reversed",
    ),
    SampleAnswer(
        "the first head again and again",
        as_multihead_attention(LOOP.replace("[h]", "[0]") + "return np.concatenate(heads, axis=1) @ W_o"),
        points=3,
        mistake="HEADS-first",
    ),
    SampleAnswer(
        "einsum summed over axis 1",
        as_multihead_attention(
            LOOP.replace(
                "softmax(Q @ K.T / Q.shape[1] ** 0.5) @ V",
                "np.einsum('ij,jk->jik', softmax(Q @ K.T / Q.shape[1] ** 0.5), V).sum(axis=1)",
            )
            + "return np.concatenate(heads, axis=1) @ W_o"
        ),
        points=3,
        mistake="M9",
    ),
    SampleAnswer("keys as values", stacked(WEIGHTS, values="k"), points=3, mistake="V-key"),
    SampleAnswer(
        "no final projection",
        as_multihead_attention(LOOP + "return np.concatenate(heads, axis=1)"),
        points=3,
        mistake="W_o",
    ),
    SampleAnswer("residual", stacked(WEIGHTS, MERGE + " + x"), points=3, mistake="SKIP"),
    SampleAnswer(
        "averaged over the heads",
        as_multihead_attention(LOOP + "return np.tile(np.mean(heads, axis=0), 8) @ W_o"),
        points=0,
    ),
    SampleAnswer(
        "joined below each other", as_multihead_attention(LOOP + "return np.concatenate(heads, axis=0) @ W_o"), points=0
    ),
    SampleAnswer(
        "length as a literal (the course's own)",
        as_multihead_attention("""
        out_list = np.empty([n_heads, 32, 32])
        for h in range(n_heads):
            Q, K, V = x @ W_q[h], x @ W_k[h], x @ W_v[h]
            A = softmax(Q @ K.T / (d_qkv ** 0.5))
            out_list[h] = np.einsum('ij,jk->jik', A, V).sum(axis=0)
        return np.concatenate(out_list, axis=1) @ W_o
    """),
        points=0,
    ),
]
