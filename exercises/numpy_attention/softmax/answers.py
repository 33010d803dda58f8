"""Right and wrong answers to ``softmax``."""

from autograder.exercise import SampleAnswer

from .._answers import HEAD_BY_HEAD, as_softmax

RIGHT = [
    SampleAnswer(
        "the course's own",
        as_softmax("""
        max = np.max(x, axis=1, keepdims=True)
        e_x = np.exp(x - max)
        sum = np.sum(e_x, axis=1, keepdims=True)
        f_x = e_x / sum
        return f_x
    """),
        cells=HEAD_BY_HEAD,
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "row by row",
        as_softmax("""
        out = np.empty_like(x)
        for i in range(len(x)):
            e = np.exp(x[i] - x[i].max())
            out[i] = e / e.sum()
        return out
    """),
        cells=HEAD_BY_HEAD,
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "transposed twice",
        as_softmax("e = np.exp(x.T - x.max(axis=1))\nreturn (e / e.sum(axis=0)).T"),
        cells=HEAD_BY_HEAD,
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "axis 1, while the heads are a stack",
        as_softmax("e = np.exp(x - x.max(axis=1, keepdims=True))\nreturn e / e.sum(axis=1, keepdims=True)"),
    ),
    SampleAnswer(
        "a list",
        as_softmax(
            "e = np.exp(x - x.max(axis=-1, keepdims=True))\nreturn (e / e.sum(axis=-1, keepdims=True)).tolist()"
        ),
    ),
    SampleAnswer(
        "logaddexp",
        as_softmax("return np.exp(x - np.logaddexp.reduce(x, axis=1, keepdims=True))"),
        cells=HEAD_BY_HEAD,
        costs={"no_loops": 0},
    ),
    SampleAnswer(
        "longdouble",
        as_softmax("""
        e = np.exp(x.astype(np.longdouble) - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)
    """),
    ),
    SampleAnswer(
        "float32 inside",
        as_softmax("""
        z = (x - x.max(axis=-1)[..., None]).astype(np.float32)
        return np.exp(z) / np.exp(z).sum(axis=-1)[..., None]
    """),
    ),
]

WRONG = [
    SampleAnswer(
        "the smallest subtracted",
        as_softmax("e = np.exp(x - x.min(1, keepdims=True))\nreturn e / e.sum(1, keepdims=True)"),
        points=1,
        mistake="M1-min-shift",
    ),
    SampleAnswer(
        "over the columns",
        as_softmax("e = np.exp(x - x.max(0, keepdims=True))\nreturn e / e.sum(0, keepdims=True)"),
        points=0,
        mistake="M1",
    ),
    SampleAnswer(
        "over everything", as_softmax("e = np.exp(x - x.max())\nreturn e / e.sum()"), points=0, mistake="M1-all"
    ),
    SampleAnswer("not at all", as_softmax("return x"), points=0, mistake="M1-none"),
    SampleAnswer(
        "not divided", as_softmax("return np.exp(x - x.max(1, keepdims=True))"), points=0, mistake="M1-undivided"
    ),
    SampleAnswer("exponential alone", as_softmax("return np.exp(x)"), points=0, mistake="M1-undivided-large"),
    SampleAnswer(
        "without the exponential", as_softmax("return x / x.sum(1, keepdims=True)"), points=0, mistake="M1-shares"
    ),
    SampleAnswer("sigmoid", as_softmax("return 1 / (1 + np.exp(-x))"), points=0, mistake="M1-sigmoid"),
    SampleAnswer(
        "sign of the exponent",
        as_softmax("e = np.exp(x.min(1, keepdims=True) - x)\nreturn e / e.sum(1, keepdims=True)"),
        points=0,
        mistake="M1-negative",
    ),
    SampleAnswer(
        "log-softmax",
        as_softmax("""
        z = x - x.max(1, keepdims=True)
        return z - np.log(np.exp(z).sum(1, keepdims=True))
    """),
        points=0,
        mistake="M1-logarithm",
    ),
    SampleAnswer(
        "maximum of the columns",
        as_softmax("e = np.exp(x - x.max(0))\nreturn e / e.sum(1, keepdims=True)"),
        points=0,
        mistake="M1-column-shift",
    ),
    SampleAnswer(
        "overflow", as_softmax("e = np.exp(x)\nreturn e / e.sum(1, keepdims=True)"), points=1, mistake="M1-overflow"
    ),
    SampleAnswer(
        "one maximum for all rows",
        as_softmax("e = np.exp(x - x.max())\nreturn e / e.sum(1, keepdims=True)"),
        points=1,
        mistake="M1-one-shift",
    ),
    SampleAnswer(
        "the mean subtracted",
        as_softmax("e = np.exp(x - x.mean(-1, keepdims=True))\nreturn e / e.sum(-1, keepdims=True)"),
        points=1,
        mistake="M1-mean-shift",
    ),
    SampleAnswer(
        "the largest size subtracted",
        as_softmax("e = np.exp(x - np.abs(x).max(-1, keepdims=True))\nreturn e / e.sum(-1, keepdims=True)"),
        points=1,
        mistake="M1-size-shift",
    ),
    SampleAnswer(
        "changes its argument",
        as_softmax("""
        x -= x.max(1, keepdims=True)
        np.exp(x, out=x)
        x /= x.sum(1, keepdims=True)
        return x
    """),
        points=1,
        mistake="CHANGED",
    ),
    SampleAnswer("axis not kept", as_softmax("e = np.exp(x - x.max(1))\nreturn e / e.sum(1)"), points=0),
]
