"""Right answers with and without a loop: the bonus is for those without one."""

from autograder.exercise import SampleAnswer

from .._answers import LOOP, WEIGHTS, as_multihead_attention, as_softmax, stacked

CELL = "multihead_attention_answer"

RIGHT = [
    SampleAnswer("stacks", stacked(WEIGHTS)),
    SampleAnswer(
        "brackets on a line of their own",
        "def apply_multihead_attention(\n    x, W_q, W_k, W_v, W_o\n):\n" + stacked(WEIGHTS).partition("\n")[2],
    ),
    SampleAnswer(
        "a NumPy function's reduce",
        stacked(WEIGHTS),
        cells={"softmax_answer": as_softmax("return np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True))")},
    ),
    SampleAnswer("beside a broken thought", "for unused in range(3):\n    pass\n\n" + stacked(WEIGHTS)),
]

WRONG = [
    SampleAnswer(
        "for", as_multihead_attention(LOOP + "return np.concatenate(heads, axis=1) @ W_o"), points=0, mistake="LOOP"
    ),
    SampleAnswer(
        "comprehension",
        as_multihead_attention("""
        o = np.stack([softmax((x @ a) @ (x @ b).T / 32**0.5) @ (x @ c) for a, b, c in zip(W_q, W_k, W_v)])
        return o.transpose(1, 0, 2).reshape(len(x), -1) @ W_o
    """),
        points=0,
        mistake="LOOP",
    ),
    SampleAnswer(
        "map",
        as_multihead_attention("""
        o = list(map(lambda a, b, c: softmax((x @ a) @ (x @ b).T / 32**0.5) @ (x @ c), W_q, W_k, W_v))
        return np.concatenate(o, axis=1) @ W_o
    """),
        points=0,
        mistake="LOOP",
    ),
    SampleAnswer(
        "reduce of functools",
        "import functools as ft\n\n"
        + as_multihead_attention("""
        o = ft.reduce(lambda o, w: o + [softmax((x @ w[0]) @ (x @ w[1]).T / 32**0.5) @ (x @ w[2])],
                      np.stack([W_q, W_k, W_v], axis=1), [])
        return np.concatenate(o, axis=1) @ W_o
    """),
        points=0,
        mistake="LOOP",
    ),
    SampleAnswer(
        "while",
        as_multihead_attention("""
        o, h = [], 0
        while h < len(W_q):
            o.append(softmax((x @ W_q[h]) @ (x @ W_k[h]).T / 32**0.5) @ (x @ W_v[h]))
            h += 1
        return np.concatenate(o, axis=1) @ W_o
    """),
        points=0,
        mistake="LOOP",
    ),
    SampleAnswer(
        "in a helper",
        """def rows(s):
    return np.stack([softmax(one) for one in s])

"""
        + stacked("rows(q @ k.transpose(0, 2, 1) / 32**0.5)"),
        points=0,
        mistake="LOOP",
    ),
    SampleAnswer(
        "by calling itself",
        as_multihead_attention("""
        if len(W_q) == 1:
            return softmax((x @ W_q[0]) @ (x @ W_k[0]).T / 32**0.5) @ (x @ W_v[0]) @ W_o
        first = softmax((x @ W_q[0]) @ (x @ W_k[0]).T / 32**0.5) @ (x @ W_v[0]) @ W_o[:32]
        return first + apply_multihead_attention(x, W_q[1:], W_k[1:], W_v[1:], W_o[32:])
    """),
        points=0,
        mistake="LOOP",
    ),
    SampleAnswer(
        "not scaled, without a loop",
        stacked("softmax(q @ k.transpose(0, 2, 1))"),
        points=0,
        mistake="M2",
        costs={"multihead_attention": 3},
    ),
]
