"""``apply_self_attention``: one head. A single known mistake costs two fifths of the points."""

from autograder.exercise import Exercise, Mistake, put_together, variant

from ._heads import cases, mistakes

# The lines of the solution that mistakes change.
PRODUCTS, SCALED, ROOT = "queries @ keys.T", " / np.sqrt(W_q.shape[1])", "W_q.shape[1]"
SOFTMAX, MIXED, RESULT = "softmax(scores)", "weights @ values", "mixed @ W_o"

MISTAKES = [
    *mistakes({
        "M1": [(SOFTMAX, "softmax(scores.T).T")],
        "M1-all": [(SOFTMAX, "softmax(scores.reshape(1, -1)).reshape(scores.shape)")],
        "M1-none": [(SOFTMAX, "scores")],
        "M1-twice": [(SOFTMAX, "softmax(softmax(scores))")],
        "M2": [(SCALED, "")],
        "M3": [(SCALED, f" / {ROOT}")],
        "M3-up": [(SCALED, SCALED.replace("/", "*"))],
        "M3-model": [(ROOT, "x.shape[1]")],
        "M3-tokens": [(ROOT, "len(x)")],
        "M3-late": [(SCALED, ""), (SOFTMAX, SOFTMAX + SCALED)],
        "M4": [("keys.T", "keys")],
        "M4-swap": [(PRODUCTS, "keys @ queries.T")],
        "M4-transposed": [(MIXED, "weights.T @ values")],
        "M9": [(MIXED, "np.einsum('ij,jk->jik', weights, values).sum(axis=1)")],
        "M9-late": [(SOFTMAX, "scores"), (MIXED, f"softmax({MIXED})")],
        "V-query": [(MIXED, "weights @ queries")],
        "V-key": [(MIXED, "weights @ keys")],
        "MASK": [(SOFTMAX, "softmax(np.where(np.tri(len(x)) == 1, scores, -np.inf))")],
        "SKIP": [(RESULT, f"{RESULT} + x")],
        "W_o": [(RESULT, "mixed")],
        "M3-inverted": [(PRODUCTS + SCALED, f"np.sqrt({ROOT}) / ({PRODUCTS})")],
        "S-queries": [(PRODUCTS, "queries")],
        "S-keys": [(PRODUCTS, "keys.T")],
        "S-elementwise": [(PRODUCTS, "queries * keys.T")],
        "S-dimensions": [(PRODUCTS, "keys.T @ queries")],
        "W-elementwise": [(MIXED, "weights * values")],
        "W-turned": [(MIXED, "values @ weights")],
        "W-alone": [(MIXED, "weights")],
        "W-scores": [(MIXED, "scores")],
    }),
    Mistake("", "length as a literal", "",
            (f"return {RESULT}", "out = np.zeros((32, d_qkv))\n    out[:] = mixed\n    return out @ W_o")),
    Mistake("", "the stored result", "", (f"return {RESULT}", "return np.load(data / 'y.npy')")),
    Mistake("", "the mean of the values", "", (MIXED, "np.repeat(values.mean(0, keepdims=True), len(x), 0)")),
    Mistake("", "a scalar", "", (f"return {RESULT}", "return 0.0")),
]  # fmt: skip

HEAD = "def apply_self_attention(x, W_q, W_k, W_v, W_o):"
RIGHT = {
    "the course's own einsum": variant(HEAD, """
        Q = x @ W_q
        K = x @ W_k
        V = x @ W_v
        Aij = Q @ K.T / (d_qkv ** 0.5)
        A = softmax(Aij)
        weighted = np.einsum('ij,jk->jik', A, V)
        out = weighted.sum(axis=0)
        return out @ W_o
    """),
    "einsum throughout": variant(HEAD, """
        q, k, v = (np.einsum('nm,md->nd', x, W) for W in (W_q, W_k, W_v))
        a = softmax(np.einsum('id,jd->ij', q, k) / np.sqrt(q.shape[-1]))
        return np.einsum('ij,jd,dm->im', a, v, W_o)
    """),
    "token by token": variant(HEAD, """
        keys, values = x @ W_k, x @ W_v
        y = []
        for token in x:
            scores = keys @ (token @ W_q) / np.sqrt(keys.shape[1])
            e = np.exp(scores - scores.max())
            y.append(e / e.sum() @ values @ W_o)
        return np.array(y)
    """),
    "float32 inside": variant(HEAD, """
        x, W_q, W_k, W_v, W_o = (a.astype(np.float32) for a in (x, W_q, W_k, W_v, W_o))
        return softmax((x @ W_q) @ (x @ W_k).T / np.float32(np.sqrt(W_q.shape[1]))) @ (x @ W_v) @ W_o
    """),
    "columns, as in papers": variant(HEAD, """
        X = x.T
        Q, K, V = W_q.T @ X, W_k.T @ X, W_v.T @ X
        A = softmax(Q.T @ K / np.sqrt(len(Q)))
        return (W_o.T @ (V @ A.T)).T
    """),
    "queries scaled first": variant(HEAD, """
        q = (x @ W_q) * W_q.shape[1] ** -0.5
        return softmax(q @ (x @ W_k).T) @ ((x @ W_v) @ W_o)
    """),
    "own softmax inside": variant(HEAD, """
        s = np.dot(x @ W_q, np.transpose(x @ W_k)) / np.sqrt(W_k.shape[-1])
        s = np.exp(s - s.max(axis=1)[:, None])
        return (s @ (x @ W_v) / s.sum(axis=1)[:, None]) @ W_o
    """),
    "a list": [(RESULT, f"({RESULT}).tolist()")],
}  # fmt: skip

EXERCISE = Exercise(
    cases(heads=None), put_together, MISTAKES, right=RIGHT,
    parts={"softmax": "softmax"},
    shows=("any number of tokens", "each query's weights sum to 1", "scores divided by √d_qkv", "large scores too"),
    axes={"y": "n, d_model"},
)  # fmt: skip
