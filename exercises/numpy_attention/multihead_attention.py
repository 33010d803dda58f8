"""``apply_multihead_attention``: eight heads. A single known mistake costs two fifths of the points."""

from autograder.exercise import Exercise, Mistake, SampleAnswer, put_together, variant

from ._answers import HEAD, by_head
from ._heads import N_HEADS, PROJECTED, cases, mistakes

# The lines of the solution that mistakes change.
PRODUCTS, SCALED, ROOT = 'np.einsum("hid,hjd->hij", queries, keys)', " / np.sqrt(W_q.shape[2])", "W_q.shape[2]"
SOFTMAX, MIXED, RESULT = "softmax(scores)", 'np.einsum("hij,hjd->ihd", softmax(scores), values)', "mixed.reshape"
JOINED = 'hij,hjd->ihd"'
TURNED = ".swapaxes(0, 1)"

MISTAKES = [
    *mistakes({
        "M1-heads": [(SOFTMAX, "np.moveaxis(softmax(np.moveaxis(scores, 0, -1)), -1, 0)")],
        "M3-heads": [(ROOT, "len(W_o)")],
        "M5": [(PROJECTED, "((x @ W.reshape(x.shape[1], -1)).reshape(len(x), len(W), -1).swapaxes(0, 1)"
                           " for W in (W_q, W_k, W_v))")],
        "M6": [(JOINED, 'hij,hjd->hid"')],
        "HEADS-interleaved": [(JOINED, 'hij,hjd->idh"')],
        "HEADS-reversed": [(RESULT, "mixed[:, ::-1].reshape")],
        "HEADS-first": [(RESULT, "np.repeat(mixed[:, :1], len(W_q), axis=1).reshape")],
        "M1": [(SOFTMAX, "softmax(scores.swapaxes(1, 2)).swapaxes(1, 2)")],
        "M1-all": [(SOFTMAX, "softmax(scores.reshape(len(scores), -1)).reshape(scores.shape)")],
        "M1-none": [(SOFTMAX, "scores")],
        "M1-twice": [(SOFTMAX, "softmax(softmax(scores))")],
        "M2": [(SCALED, "")],
        "M3": [(SCALED, f" / {ROOT}")],
        "M3-up": [(SCALED, SCALED.replace("/", "*"))],
        "M3-model": [(ROOT, "x.shape[1]")],
        "M3-tokens": [(ROOT, "len(x)")],
        "M3-late": [(SCALED, ""), (SOFTMAX, SOFTMAX + SCALED)],
        "M4": [(PRODUCTS, "queries @ keys")],
        "M4-swap": [("queries, keys)", "keys, queries)")],
        "M4-transposed": [(JOINED, 'hji,hjd->ihd"')],
        "M9": [(JOINED, 'hij,hjd->jhd"')],
        "M9-late": [(MIXED, f"softmax(scores @ values){TURNED}")],
        "V-query": [("softmax(scores), values", "softmax(scores), queries")],
        "V-key": [("softmax(scores), values", "softmax(scores), keys")],
        "MASK": [(SOFTMAX, "softmax(np.where(np.tri(len(x)) == 1, scores, -np.inf))")],
        "SKIP": [("@ W_o", "@ W_o + x")],
        "W_o": [(" @ W_o", "")],
        "M3-inverted": [(PRODUCTS + SCALED, f"np.sqrt({ROOT}) / {PRODUCTS}")],
        "S-queries": [(PRODUCTS, "queries")],
        "S-keys": [(PRODUCTS, "keys.swapaxes(1, 2)")],
        "S-elementwise": [(PRODUCTS, "queries * keys.swapaxes(1, 2)")],
        "S-dimensions": [(PRODUCTS, "keys.swapaxes(1, 2) @ queries")],
        "W-elementwise": [(MIXED, f"(softmax(scores) * values){TURNED}")],
        "W-turned": [(MIXED, f"(values @ softmax(scores)){TURNED}")],
        "W-alone": [(MIXED, f"softmax(scores){TURNED}")],
        "W-scores": [(MIXED, f"scores{TURNED}")],
    }),
    Mistake("M7-averaged", "The heads were averaged, and the average repeated.",
            "What the heads give is laid end to end: every head keeps its numbers.",
            (RESULT, "np.repeat(mixed.mean(1, keepdims=True), len(W_q), axis=1).reshape")),
    Mistake("", "joined below each other", "", by_head("return np.concatenate(heads, axis=0) @ W_o")),
    Mistake("", "length as a literal", "", variant(HEAD, """
        out_list = np.empty([n_heads, 32, 32])
        for h in range(n_heads):
            Q, K, V = x @ W_q[h], x @ W_k[h], x @ W_v[h]
            A = softmax(Q @ K.T / (d_qkv ** 0.5))
            out_list[h] = np.einsum('ij,jk->jik', A, V).sum(axis=0)
        return np.concatenate(out_list, axis=1) @ W_o
    """)),
]  # fmt: skip


def looped(text: str) -> SampleAnswer:
    """Right, and no answer to the bonus."""
    return SampleAnswer(text=text, also_costs={"no_loops": 0})


RIGHT = {
    "the course's own, with a list": looped(variant(HEAD, """
        out_list = []
        for h in range(n_heads):
            Q, K, V = x @ W_q[h], x @ W_k[h], x @ W_v[h]
            A = softmax(Q @ K.T / (d_qkv ** 0.5))
            out_list.append(np.einsum('ij,jk->jik', A, V).sum(axis=0))
        return np.concatenate(out_list, axis=1) @ W_o
    """)),
    "by the single head": looped(variant(HEAD, """
        d = W_q.shape[2]
        return sum(apply_self_attention(x, W_q[h], W_k[h], W_v[h], W_o[h * d:(h + 1) * d]) for h in range(len(W_q)))
    """)),
    "one matrix, then split": variant(HEAD, """
        h, m, d = W_q.shape
        split = lambda W: (x @ W.transpose(1, 0, 2).reshape(m, h * d)).reshape(len(x), h, d).swapaxes(0, 1)
        q, k, v = split(W_q), split(W_k), split(W_v)
        o = softmax((q @ k.swapaxes(1, 2) / np.sqrt(d)).reshape(-1, len(x))).reshape(h, len(x), len(x)) @ v
        return np.hstack(o) @ W_o
    """),
    "pure einsum": looped(variant(HEAD, """
        q, k, v = (np.einsum('im,hmd->hid', x, W) for W in (W_q, W_k, W_v))
        s = np.einsum('hid,hjd->hij', q, k) / np.sqrt(q.shape[-1])
        e = np.exp(s - s.max(-1, keepdims=True))
        a = e / e.sum(-1, keepdims=True)
        return np.einsum('hij,hjd,hdm->im', a, v, W_o.reshape(len(W_q), -1, W_o.shape[1]))
    """)),
    "float32 inside": looped(variant(HEAD, """
        x, W_q, W_k, W_v, W_o = (a.astype(np.float32) for a in (x, W_q, W_k, W_v, W_o))
        q, k, v = x @ W_q, x @ W_k, x @ W_v
        a = np.stack([softmax(s) for s in q @ k.transpose(0, 2, 1) / np.sqrt(np.float32(q.shape[2]))])
        return np.concatenate(list(a @ v), axis=-1) @ W_o
    """)),
    "filled column by column": looped(variant(HEAD, """
        y = np.zeros((len(x), len(W_o)))
        for head, (q, k, v) in enumerate(zip(W_q, W_k, W_v)):
            a = softmax((x @ q) @ (x @ k).T / np.sqrt(q.shape[1]))
            y[:, head * q.shape[1]:(head + 1) * q.shape[1]] = a @ (x @ v)
        return y @ W_o
    """)),
    "a comprehension, type hints, a walrus": looped(variant(HEAD, """
        heads: list[np.ndarray] = [
            softmax((q := x @ w_q) @ (x @ w_k).T / np.sqrt(q.shape[-1])) @ (x @ w_v)
            for w_q, w_k, w_v in zip(W_q, W_k, W_v)
        ]
        return np.concatenate(heads, axis=-1) @ W_o
    """)),
    "tensordot, and a sum over the heads": looped(variant(HEAD, """
        q, k, v = (np.moveaxis(np.tensordot(x, W, axes=(1, 1)), 1, 0) for W in (W_q, W_k, W_v))
        mixed = np.matmul(softmax(np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(W_q.shape[-1])), v)
        return np.matmul(mixed, W_o.reshape(len(W_q), -1, W_o.shape[-1])).sum(axis=0)
    """)),
    "float64 inside, keyword arguments alone": looped(variant(HEAD, """
        q, k, v = (np.einsum('im,hmd->hid', x.astype(np.float64), W, optimize=True) for W in (W_q, W_k, W_v))
        weights = softmax(x=np.einsum('hid,hjd->hij', q, k) / np.sqrt(k.shape[2]))
        return np.hstack(tup=list(np.einsum('hij,hjd->hid', weights, v))) @ W_o
    """)),
    "a list": looped(by_head("return (np.concatenate(heads, axis=1) @ W_o).tolist()")),
}  # fmt: skip

EXERCISE = Exercise(
    cases(N_HEADS), put_together, MISTAKES, right=RIGHT,
    parts={"softmax": "softmax", "self_attention": "apply_self_attention"},
    shows=("any number of tokens", "heads laid end to end", "each query's weights sum to 1", "scaled by √d_qkv"),
    axes={"y": "n, d_model"},
)  # fmt: skip
