"""Student code for the NumPy sheet: wrong in ways that people are, and right in ways that are not ours."""

from __future__ import annotations

from textwrap import dedent, indent


def _softmax(body: str) -> str:
    return "def softmax(x):\n" + indent(dedent(body).strip("\n"), "    ")


def _self(body: str) -> str:
    return "def apply_self_attention(x, W_q, W_k, W_v, W_o):\n" + indent(dedent(body).strip("\n"), "    ")


def _multi(body: str) -> str:
    return "def apply_multihead_attention(x, W_q, W_k, W_v, W_o):\n" + indent(dedent(body).strip("\n"), "    ")


# --- softmax: name -> (code, the mistake's id, points of 2) -----------------------------------------------------------

SOFTMAX_WRONG = {
    "over the columns": (
        _softmax("e = np.exp(x - x.max(0, keepdims=True))\nreturn e / e.sum(0, keepdims=True)"),
        "M1",
        0,
    ),
    "over everything": (_softmax("e = np.exp(x - x.max())\nreturn e / e.sum()"), "M1-all", 0),
    "not at all": (_softmax("return x"), "M1-none", 0),
    "not divided": (_softmax("return np.exp(x - x.max(1, keepdims=True))"), "M1-undivided", 0),
    "exponential alone": (_softmax("return np.exp(x)"), "M1-undivided-large", 0),
    "without the exponential": (_softmax("return x / x.sum(1, keepdims=True)"), "M1-shares", 0),
    "sigmoid": (_softmax("return 1 / (1 + np.exp(-x))"), "M1-sigmoid", 0),
    "sign of the exponent": (
        _softmax("e = np.exp(x.min(1, keepdims=True) - x)\nreturn e / e.sum(1, keepdims=True)"),
        "M1-negative",
        0,
    ),
    "log-softmax": (
        _softmax("""
        z = x - x.max(1, keepdims=True)
        return z - np.log(np.exp(z).sum(1, keepdims=True))
    """),
        "M1-logarithm",
        0,
    ),
    "maximum of the columns": (
        _softmax("e = np.exp(x - x.max(0))\nreturn e / e.sum(1, keepdims=True)"),
        "M1-column-shift",
        0,
    ),
    "overflow": (_softmax("e = np.exp(x)\nreturn e / e.sum(1, keepdims=True)"), "M1-overflow", 1),
    "one maximum for all rows": (
        _softmax("e = np.exp(x - x.max())\nreturn e / e.sum(1, keepdims=True)"),
        "M1-one-shift",
        1,
    ),
    "changes its argument": (
        _softmax("""
        x -= x.max(1, keepdims=True)
        np.exp(x, out=x)
        x /= x.sum(1, keepdims=True)
        return x
    """),
        "CHANGED",
        1,
    ),
    "axis not kept": (_softmax("e = np.exp(x - x.max(1))\nreturn e / e.sum(1)"), None, 0),
}

SOFTMAX_RIGHT = {
    "the sheet's own": _softmax("""
        max = np.max(x, axis=1, keepdims=True)
        e_x = np.exp(x - max)
        sum = np.sum(e_x, axis=1, keepdims=True)
        f_x = e_x / sum
        return f_x
    """),
    "row by row": _softmax("""
        out = np.empty_like(x)
        for i in range(len(x)):
            e = np.exp(x[i] - x[i].max())
            out[i] = e / e.sum()
        return out
    """),
    "transposed twice": _softmax("e = np.exp(x.T - x.max(axis=1))\nreturn (e / e.sum(axis=0)).T"),
    "logaddexp": _softmax("return np.exp(x - np.logaddexp.reduce(x, axis=1, keepdims=True))"),
    "float32 inside": _softmax("""
        z = (x - x.max(axis=-1)[..., None]).astype(np.float32)
        return np.exp(z) / np.exp(z).sum(axis=-1)[..., None]
    """),
}

# --- self-attention: name -> (code, the mistake's id, points of 5) ----------------------------------------------------

_QKV = "Q, K, V = x @ W_q, x @ W_k, x @ W_v\n"

SELF_WRONG = {
    "softmax over the queries": (_self(_QKV + "A = softmax((Q @ K.T / 32**0.5).T).T\nreturn A @ V @ W_o"), "M1", 3),
    "softmax over everything": (
        _self(
            _QKV
            + """S = Q @ K.T / 32**0.5
e = np.exp(S - S.max())
return e / e.sum() @ V @ W_o"""
        ),
        "M1-all",
        3,
    ),
    "no softmax": (_self(_QKV + "return Q @ K.T / 32**0.5 @ V @ W_o"), "M1-none", 3),
    "not scaled": (_self(_QKV + "return softmax(Q @ K.T) @ V @ W_o"), "M2", 3),
    "divided by d": (_self(_QKV + "return softmax(Q @ K.T / d_qkv) @ V @ W_o"), "M3", 3),
    "both divided by the root": (
        _self(_QKV + "r = d_qkv**0.5\nreturn softmax((Q / r) @ (K / r).T) @ V @ W_o"),
        "M3",
        3,
    ),
    "root of d_model": (_self(_QKV + "return softmax(Q @ K.T / np.sqrt(x.shape[1])) @ V @ W_o"), "M3-model", 3),
    "root of the length": (_self(_QKV + "return softmax(Q @ K.T / np.sqrt(len(Q))) @ V @ W_o"), "M3-tokens", 3),
    "multiplied by the root": (_self(_QKV + "return softmax(Q @ K.T * d_qkv**0.5) @ V @ W_o"), "M3-up", 3),
    "scaled after the softmax": (_self(_QKV + "return softmax(Q @ K.T) / d_qkv**0.5 @ V @ W_o"), "M3-late", 3),
    "keys not transposed": (_self(_QKV + "return softmax(Q @ K / d_qkv**0.5) @ V @ W_o"), "M4", 0),
    "query and key exchanged": (_self(_QKV + "return softmax(K @ Q.T / d_qkv**0.5) @ V @ W_o"), "M4-swap", 3),
    "weights transposed": (_self(_QKV + "return softmax(Q @ K.T / d_qkv**0.5).T @ V @ W_o"), "M4-transposed", 3),
    "einsum summed over axis 1": (
        _self(
            _QKV
            + """A = softmax(Q @ K.T / d_qkv**0.5)
return np.einsum('ij,jk->jik', A, V).sum(axis=1) @ W_o"""
        ),
        "M9",
        3,
    ),
    "softmax after the sum": (_self(_QKV + "return softmax(Q @ K.T / d_qkv**0.5 @ V) @ W_o"), "M9-late", 3),
    "queries as values": (_self(_QKV + "return softmax(Q @ K.T / d_qkv**0.5) @ Q @ W_o"), "V-query", 3),
    "keys as values": (_self(_QKV + "return softmax(Q @ K.T / d_qkv**0.5) @ K @ W_o"), "V-key", 3),
    "causal mask": (
        _self(
            _QKV
            + """S = Q @ K.T / d_qkv**0.5
return softmax(np.where(np.tri(len(x)) == 1, S, -1e9)) @ V @ W_o"""
        ),
        "MASK",
        3,
    ),
    "residual": (_self(_QKV + "return x + softmax(Q @ K.T / d_qkv**0.5) @ V @ W_o"), "SKIP", 3),
    "no final projection": (_self(_QKV + "return softmax(Q @ K.T / d_qkv**0.5) @ V"), "W_o", 3),
    "length as a literal": (
        _self(
            _QKV
            + """out = np.zeros((32, d_qkv))
out[:] = softmax(Q @ K.T / d_qkv**0.5) @ V
return out @ W_o"""
        ),
        None,
        0,
    ),
    "the stored result": (_self("return np.load(data / 'y.npy')"), None, 0),
    "the mean of the values": (_self("return np.repeat((x @ W_v).mean(0, keepdims=True), len(x), 0) @ W_o"), None, 0),
    "a scalar": (_self("return 0.0"), None, 0),
}

SELF_RIGHT = {
    "the sheet's own einsum": _self("""
        Q = x @ W_q
        K = x @ W_k
        V = x @ W_v
        Aij = Q @ K.T / (d_qkv ** 0.5)
        A = softmax(Aij)
        weighted = np.einsum('ij,jk->jik', A, V)
        out = weighted.sum(axis=0)
        return out @ W_o
    """),
    "einsum throughout": _self("""
        q, k, v = (np.einsum('nm,md->nd', x, W) for W in (W_q, W_k, W_v))
        a = softmax(np.einsum('id,jd->ij', q, k) / np.sqrt(q.shape[-1]))
        return np.einsum('ij,jd,dm->im', a, v, W_o)
    """),
    "token by token": _self("""
        keys, values = x @ W_k, x @ W_v
        y = []
        for token in x:
            scores = keys @ (token @ W_q) / np.sqrt(keys.shape[1])
            e = np.exp(scores - scores.max())
            y.append(e / e.sum() @ values @ W_o)
        return np.array(y)
    """),
    "float32 inside": _self("""
        x, W_q, W_k, W_v, W_o = (a.astype(np.float32) for a in (x, W_q, W_k, W_v, W_o))
        return softmax((x @ W_q) @ (x @ W_k).T / np.float32(np.sqrt(W_q.shape[1]))) @ (x @ W_v) @ W_o
    """),
    "columns, as in papers": _self("""
        X = x.T
        Q, K, V = W_q.T @ X, W_k.T @ X, W_v.T @ X
        A = softmax(Q.T @ K / np.sqrt(len(Q)))
        return (W_o.T @ (V @ A.T)).T
    """),
    "queries scaled first": _self("""
        q = (x @ W_q) * W_q.shape[1] ** -0.5
        return softmax(q @ (x @ W_k).T) @ ((x @ W_v) @ W_o)
    """),
    "own softmax inside": _self("""
        s = np.dot(x @ W_q, np.transpose(x @ W_k)) / np.sqrt(W_k.shape[-1])
        s = np.exp(s - s.max(axis=1)[:, None])
        return (s @ (x @ W_v) / s.sum(axis=1)[:, None]) @ W_o
    """),
}

# --- many heads: name -> (code, the mistake's id, points of 5) --------------------------------------------------------

_STACKS = "q, k, v = x @ W_q, x @ W_k, x @ W_v\n"
_LOOP = """heads = []
for h in range(len(W_q)):
    Q, K, V = x @ W_q[h], x @ W_k[h], x @ W_v[h]
    heads.append(softmax(Q @ K.T / Q.shape[1] ** 0.5) @ V)
"""
_MERGE = "return o.transpose(1, 0, 2).reshape(len(x), -1) @ W_o"


def _stacked(weights: str, merge: str = _MERGE, values: str = "v") -> str:
    return _multi(f"{_STACKS}o = ({weights}) @ {values}\n{merge}")


_WEIGHTS = "softmax(q @ k.transpose(0, 2, 1) / 32**0.5)"
_AXIS = "(lambda s, a: np.exp(s - s.max(a, keepdims=True)) / np.exp(s - s.max(a, keepdims=True)).sum(a, keepdims=True))"

MULTI_WRONG = {
    "softmax over the heads": (_stacked(f"{_AXIS}(q @ k.transpose(0, 2, 1) / 32**0.5, 0)"), "M1-heads", 3),
    "softmax over axis 1 of three": (_stacked(f"{_AXIS}(q @ k.transpose(0, 2, 1) / 32**0.5, 1)"), "M1", 3),
    "no softmax": (_stacked("q @ k.transpose(0, 2, 1) / 32**0.5"), "M1-none", 3),
    "not scaled": (_stacked("softmax(q @ k.transpose(0, 2, 1))"), "M2", 3),
    "divided by d": (_stacked("softmax(q @ k.transpose(0, 2, 1) / 32)"), "M3", 3),
    "root of all heads' widths": (_stacked("softmax(q @ k.transpose(0, 2, 1) / len(W_o)**0.5)"), "M3-heads", 3),
    "root of d_model": (_stacked("softmax(q @ k.transpose(0, 2, 1) / x.shape[1]**0.5)"), "M3-model", 3),
    "keys not transposed": (_stacked("softmax(q @ k / 32**0.5)"), "M4", 0),
    "query and key exchanged": (_stacked("softmax(k @ q.transpose(0, 2, 1) / 32**0.5)"), "M4-swap", 3),
    "weights transposed": (_stacked(f"{_WEIGHTS}.transpose(0, 2, 1)"), "M4-transposed", 3),
    "stack reshaped, not transposed": (
        _multi("""
        Q, K, V = (x @ W.reshape(x.shape[1], -1) for W in (W_q, W_k, W_v))
        split = lambda a: a.reshape(len(x), 8, 32).transpose(1, 0, 2)
        o = softmax(split(Q) @ split(K).transpose(0, 2, 1) / 32**0.5) @ split(V)
        return o.transpose(1, 0, 2).reshape(len(x), -1) @ W_o
    """),
        "M5",
        3,
    ),
    "merged without moving the axis": (_stacked(_WEIGHTS, "return o.reshape(len(x), -1) @ W_o"), "M6", 3),
    "interleaved": (
        _stacked(_WEIGHTS, "return o.transpose(1, 2, 0).reshape(len(x), -1) @ W_o"),
        "HEADS-interleaved",
        3,
    ),
    "reversed": (_multi(_LOOP + "return np.concatenate(heads[::-1], axis=1) @ W_o"), "HEADS-reversed", 3),
    "the first head again and again": (
        _multi(_LOOP.replace("[h]", "[0]") + "return np.concatenate(heads, axis=1) @ W_o"),
        "HEADS-first",
        3,
    ),
    "einsum summed over axis 1": (
        _multi(
            _LOOP.replace(
                "softmax(Q @ K.T / Q.shape[1] ** 0.5) @ V",
                "np.einsum('ij,jk->jik', softmax(Q @ K.T / Q.shape[1] ** 0.5), V).sum(axis=1)",
            )
            + "return np.concatenate(heads, axis=1) @ W_o"
        ),
        "M9",
        3,
    ),
    "keys as values": (_stacked(_WEIGHTS, values="k"), "V-key", 3),
    "no final projection": (_multi(_LOOP + "return np.concatenate(heads, axis=1)"), "W_o", 3),
    "residual": (_stacked(_WEIGHTS, _MERGE + " + x"), "SKIP", 3),
    "averaged over the heads": (_multi(_LOOP + "return np.tile(np.mean(heads, axis=0), 8) @ W_o"), None, 0),
    "joined below each other": (_multi(_LOOP + "return np.concatenate(heads, axis=0) @ W_o"), None, 0),
    "length as a literal (the sheet's own)": (
        _multi("""
        out_list = np.empty([n_heads, 32, 32])
        for h in range(n_heads):
            Q, K, V = x @ W_q[h], x @ W_k[h], x @ W_v[h]
            A = softmax(Q @ K.T / (d_qkv ** 0.5))
            out_list[h] = np.einsum('ij,jk->jik', A, V).sum(axis=0)
        return np.concatenate(out_list, axis=1) @ W_o
    """),
        None,
        0,
    ),
}

MULTI_RIGHT = {
    "the sheet's own, with a list": _multi("""
        out_list = []
        for h in range(n_heads):
            Q, K, V = x @ W_q[h], x @ W_k[h], x @ W_v[h]
            A = softmax(Q @ K.T / (d_qkv ** 0.5))
            out_list.append(np.einsum('ij,jk->jik', A, V).sum(axis=0))
        return np.concatenate(out_list, axis=1) @ W_o
    """),
    "by the single head": _multi("""
        d = W_q.shape[2]
        return sum(apply_self_attention(x, W_q[h], W_k[h], W_v[h], W_o[h * d:(h + 1) * d]) for h in range(len(W_q)))
    """),
    "one matrix, then split": _multi("""
        h, m, d = W_q.shape
        split = lambda W: (x @ W.transpose(1, 0, 2).reshape(m, h * d)).reshape(len(x), h, d).swapaxes(0, 1)
        q, k, v = split(W_q), split(W_k), split(W_v)
        o = softmax((q @ k.swapaxes(1, 2) / np.sqrt(d)).reshape(-1, len(x))).reshape(h, len(x), len(x)) @ v
        return np.hstack(o) @ W_o
    """),
    "pure einsum": _multi("""
        q, k, v = (np.einsum('im,hmd->hid', x, W) for W in (W_q, W_k, W_v))
        s = np.einsum('hid,hjd->hij', q, k) / np.sqrt(q.shape[-1])
        e = np.exp(s - s.max(-1, keepdims=True))
        a = e / e.sum(-1, keepdims=True)
        return np.einsum('hij,hjd,hdm->im', a, v, W_o.reshape(len(W_q), -1, W_o.shape[1]))
    """),
    "float32 inside": _multi("""
        x, W_q, W_k, W_v, W_o = (a.astype(np.float32) for a in (x, W_q, W_k, W_v, W_o))
        q, k, v = x @ W_q, x @ W_k, x @ W_v
        a = np.stack([softmax(s) for s in q @ k.transpose(0, 2, 1) / np.sqrt(np.float32(q.shape[2]))])
        return np.concatenate(list(a @ v), axis=-1) @ W_o
    """),
    "filled column by column": _multi("""
        y = np.zeros((len(x), len(W_o)))
        for head, (q, k, v) in enumerate(zip(W_q, W_k, W_v)):
            a = softmax((x @ q) @ (x @ k).T / np.sqrt(q.shape[1]))
            y[:, head * q.shape[1]:(head + 1) * q.shape[1]] = a @ (x @ v)
        return y @ W_o
    """),
}

# --- the bonus: right answers with a loop somewhere -------------------------------------------------------------------

WITH_LOOPS = {
    "for": MULTI_RIGHT["the sheet's own, with a list"],
    "comprehension": _multi("""
        o = np.stack([softmax((x @ a) @ (x @ b).T / 32**0.5) @ (x @ c) for a, b, c in zip(W_q, W_k, W_v)])
        return o.transpose(1, 0, 2).reshape(len(x), -1) @ W_o
    """),
    "map": _multi("""
        o = list(map(lambda a, b, c: softmax((x @ a) @ (x @ b).T / 32**0.5) @ (x @ c), W_q, W_k, W_v))
        return np.concatenate(o, axis=1) @ W_o
    """),
    "while": _multi("""
        o, h = [], 0
        while h < len(W_q):
            o.append(softmax((x @ W_q[h]) @ (x @ W_k[h]).T / 32**0.5) @ (x @ W_v[h]))
            h += 1
        return np.concatenate(o, axis=1) @ W_o
    """),
    "in a helper": """def rows(s):
    return np.stack([softmax(one) for one in s])

"""
    + _stacked("rows(q @ k.transpose(0, 2, 1) / 32**0.5)"),
    "by calling itself": _multi("""
        if len(W_q) == 1:
            return softmax((x @ W_q[0]) @ (x @ W_k[0]).T / 32**0.5) @ (x @ W_v[0]) @ W_o
        first = softmax((x @ W_q[0]) @ (x @ W_k[0]).T / 32**0.5) @ (x @ W_v[0]) @ W_o[:32]
        return first + apply_multihead_attention(x, W_q[1:], W_k[1:], W_v[1:], W_o[32:])
    """),
}
WITHOUT_LOOPS = {
    "stacks": _stacked(_WEIGHTS),
    "brackets on a line of their own": "def apply_multihead_attention(\n    x, W_q, W_k, W_v, W_o\n):\n"
    + _stacked(_WEIGHTS).partition("\n")[2],
    "beside a broken thought": "for unused in range(3):\n    pass\n\n" + _stacked(_WEIGHTS),
}
