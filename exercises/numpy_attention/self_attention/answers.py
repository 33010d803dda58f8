"""Right and wrong answers to ``apply_self_attention``."""

from autograder.exercise import SampleAnswer

from .._answers import QKV, as_self_attention

RIGHT = [
    SampleAnswer(
        "the course's own einsum",
        as_self_attention("""
        Q = x @ W_q
        K = x @ W_k
        V = x @ W_v
        Aij = Q @ K.T / (d_qkv ** 0.5)
        A = softmax(Aij)
        weighted = np.einsum('ij,jk->jik', A, V)
        out = weighted.sum(axis=0)
        return out @ W_o
    """),
    ),
    SampleAnswer(
        "einsum throughout",
        as_self_attention("""
        q, k, v = (np.einsum('nm,md->nd', x, W) for W in (W_q, W_k, W_v))
        a = softmax(np.einsum('id,jd->ij', q, k) / np.sqrt(q.shape[-1]))
        return np.einsum('ij,jd,dm->im', a, v, W_o)
    """),
    ),
    SampleAnswer(
        "token by token",
        as_self_attention("""
        keys, values = x @ W_k, x @ W_v
        y = []
        for token in x:
            scores = keys @ (token @ W_q) / np.sqrt(keys.shape[1])
            e = np.exp(scores - scores.max())
            y.append(e / e.sum() @ values @ W_o)
        return np.array(y)
    """),
    ),
    SampleAnswer(
        "float32 inside",
        as_self_attention("""
        x, W_q, W_k, W_v, W_o = (a.astype(np.float32) for a in (x, W_q, W_k, W_v, W_o))
        return softmax((x @ W_q) @ (x @ W_k).T / np.float32(np.sqrt(W_q.shape[1]))) @ (x @ W_v) @ W_o
    """),
    ),
    SampleAnswer(
        "columns, as in papers",
        as_self_attention("""
        X = x.T
        Q, K, V = W_q.T @ X, W_k.T @ X, W_v.T @ X
        A = softmax(Q.T @ K / np.sqrt(len(Q)))
        return (W_o.T @ (V @ A.T)).T
    """),
    ),
    SampleAnswer(
        "queries scaled first",
        as_self_attention("""
        q = (x @ W_q) * W_q.shape[1] ** -0.5
        return softmax(q @ (x @ W_k).T) @ ((x @ W_v) @ W_o)
    """),
    ),
    SampleAnswer(
        "own softmax inside",
        as_self_attention("""
        s = np.dot(x @ W_q, np.transpose(x @ W_k)) / np.sqrt(W_k.shape[-1])
        s = np.exp(s - s.max(axis=1)[:, None])
        return (s @ (x @ W_v) / s.sum(axis=1)[:, None]) @ W_o
    """),
    ),
    SampleAnswer("a list", as_self_attention(QKV + "return (softmax(Q @ K.T / d_qkv**0.5) @ V @ W_o).tolist()")),
]

WRONG = [
    SampleAnswer(
        "softmax over the queries",
        as_self_attention(QKV + "A = softmax((Q @ K.T / 32**0.5).T).T\nreturn A @ V @ W_o"),
        points=3,
        mistake="M1",
    ),
    SampleAnswer(
        "softmax over everything",
        as_self_attention(
            QKV
            + """S = Q @ K.T / 32**0.5
e = np.exp(S - S.max())
return e / e.sum() @ V @ W_o"""
        ),
        points=3,
        mistake="M1-all",
    ),
    SampleAnswer(
        "no softmax", as_self_attention(QKV + "return Q @ K.T / 32**0.5 @ V @ W_o"), points=3, mistake="M1-none"
    ),
    SampleAnswer("not scaled", as_self_attention(QKV + "return softmax(Q @ K.T) @ V @ W_o"), points=3, mistake="M2"),
    SampleAnswer(
        "divided by d", as_self_attention(QKV + "return softmax(Q @ K.T / d_qkv) @ V @ W_o"), points=3, mistake="M3"
    ),
    SampleAnswer(
        "both divided by the root",
        as_self_attention(QKV + "r = d_qkv**0.5\nreturn softmax((Q / r) @ (K / r).T) @ V @ W_o"),
        points=3,
        mistake="M3",
    ),
    SampleAnswer(
        "root of d_model",
        as_self_attention(QKV + "return softmax(Q @ K.T / np.sqrt(x.shape[1])) @ V @ W_o"),
        points=3,
        mistake="M3-model",
    ),
    SampleAnswer(
        "root of the length",
        as_self_attention(QKV + "return softmax(Q @ K.T / np.sqrt(len(Q))) @ V @ W_o"),
        points=3,
        mistake="M3-tokens",
    ),
    SampleAnswer(
        "multiplied by the root",
        as_self_attention(QKV + "return softmax(Q @ K.T * d_qkv**0.5) @ V @ W_o"),
        points=3,
        mistake="M3-up",
    ),
    SampleAnswer(
        "scaled after the softmax",
        as_self_attention(QKV + "return softmax(Q @ K.T) / d_qkv**0.5 @ V @ W_o"),
        points=3,
        mistake="M3-late",
    ),
    SampleAnswer(
        "keys not transposed",
        as_self_attention(QKV + "return softmax(Q @ K / d_qkv**0.5) @ V @ W_o"),
        points=0,
        mistake="M4",
    ),
    SampleAnswer(
        "query and key exchanged",
        as_self_attention(QKV + "return softmax(K @ Q.T / d_qkv**0.5) @ V @ W_o"),
        points=3,
        mistake="M4-swap",
    ),
    SampleAnswer(
        "weights transposed",
        as_self_attention(QKV + "return softmax(Q @ K.T / d_qkv**0.5).T @ V @ W_o"),
        points=3,
        mistake="M4-transposed",
    ),
    SampleAnswer(
        "einsum summed over axis 1",
        as_self_attention(
            QKV
            + """A = softmax(Q @ K.T / d_qkv**0.5)
return np.einsum('ij,jk->jik', A, V).sum(axis=1) @ W_o"""
        ),
        points=3,
        mistake="M9",
    ),
    SampleAnswer(
        "softmax after the sum",
        as_self_attention(QKV + "return softmax(Q @ K.T / d_qkv**0.5 @ V) @ W_o"),
        points=3,
        mistake="M9-late",
    ),
    SampleAnswer(
        "queries as values",
        as_self_attention(QKV + "return softmax(Q @ K.T / d_qkv**0.5) @ Q @ W_o"),
        points=3,
        mistake="V-query",
    ),
    SampleAnswer(
        "keys as values",
        as_self_attention(QKV + "return softmax(Q @ K.T / d_qkv**0.5) @ K @ W_o"),
        points=3,
        mistake="V-key",
    ),
    SampleAnswer(
        "causal mask",
        as_self_attention(
            QKV
            + """S = Q @ K.T / d_qkv**0.5
return softmax(np.where(np.tri(len(x)) == 1, S, -1e9)) @ V @ W_o"""
        ),
        points=3,
        mistake="MASK",
    ),
    SampleAnswer(
        "residual",
        as_self_attention(QKV + "return x + softmax(Q @ K.T / d_qkv**0.5) @ V @ W_o"),
        points=3,
        mistake="SKIP",
    ),
    SampleAnswer(
        "no final projection",
        as_self_attention(QKV + "return softmax(Q @ K.T / d_qkv**0.5) @ V"),
        points=3,
        mistake="W_o",
    ),
    SampleAnswer(
        "length as a literal",
        as_self_attention(
            QKV
            + """out = np.zeros((32, d_qkv))
out[:] = softmax(Q @ K.T / d_qkv**0.5) @ V
return out @ W_o"""
        ),
        points=0,
    ),
    SampleAnswer("the stored result", as_self_attention("return np.load(data / 'y.npy')"), points=0),
    SampleAnswer(
        "the mean of the values",
        as_self_attention("return np.repeat((x @ W_v).mean(0, keepdims=True), len(x), 0) @ W_o"),
        points=0,
    ),
    SampleAnswer("a scalar", as_self_attention("return 0.0"), points=0),
]
