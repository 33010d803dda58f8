"""Right and wrong answers to ``head_attention``."""

from autograder.exercise import SampleAnswer

from .._answers import HEAD_INIT, METHOD

CELL = "models.py"

LOOPS = """
output = torch.zeros(q.size(0), q.size(1), v.size(2))
weights = torch.zeros(q.size(0), q.size(1), k.size(1))
for b in range(q.size(0)):
    for i in range(q.size(1)):
        row = torch.stack([torch.dot(q[b, i], key) / k.size(2) ** 0.5 for key in k[b]])
        weights[b, i] = torch.softmax(row, 0)
        for j in range(k.size(1)):
            output[b, i] += weights[b, i, j] * v[b, j]
return output, weights
"""
EINSUM = """
weights = torch.softmax(torch.einsum("bnd,bmd->bnm", q, k) / sqrt(q.shape[-1]), -1)
return torch.einsum("bnm,bme->bne", weights, v), weights
"""
READY = """
output = nn.functional.scaled_dot_product_attention(q, k, v)
unit = torch.eye(k.size(1)).expand(k.size(0), -1, -1)
return output, nn.functional.scaled_dot_product_attention(q, k, unit)
"""
BY_HAND = """
scores = torch.bmm(q, k.permute(0, 2, 1)).mul(k.size(-1) ** -0.5).double()
shifted = (scores - scores.amax(-1, keepdim=True)).exp()
weights = (shifted / shifted.sum(-1, keepdim=True)).to(v.dtype)
return weights.bmm(v), weights
"""
DOT, SOFTMAX, BOTH = "q @ k.transpose(-2, -1) / sqrt(k.size(-1))", "scores.softmax(dim=-1)", "weights @ v, weights"


def _wrong(name: str, scores: str, weights: str, result: str, mistake: str = "") -> SampleAnswer:
    return SampleAnswer(
        name, methods={METHOD: f"scores = {scores}\nweights = {weights}\nreturn {result}"}, points=0, mistake=mistake
    )


RIGHT = [
    SampleAnswer("loops", methods={METHOD: LOOPS}),
    SampleAnswer("einsum", methods={METHOD: EINSUM}),
    SampleAnswer("ready-made", methods={METHOD: READY}),
    SampleAnswer("by hand, in float64", methods={METHOD: BY_HAND}),
    SampleAnswer(
        "the root kept in __init__",
        methods={
            HEAD_INIT: """
            self.scale = sqrt(d_k)
            self.wq, self.wk, self.wv = (nn.Linear(d_model, d) for d in (d_q, d_k, d_v))
            """,
            METHOD: "weights = torch.softmax(q.matmul(k.mT) / self.scale, dim=2)\nreturn weights.matmul(v), weights",
        },
    ),
]
WRONG = [
    _wrong("no scaling", "q @ k.transpose(-2, -1)", SOFTMAX, BOTH, "M2"),
    _wrong("divided by d_k", "q @ k.transpose(-2, -1) / k.size(-1)", SOFTMAX, BOTH, "M3"),
    _wrong("multiplied by the root", "q @ k.transpose(-2, -1) * sqrt(k.size(-1))", SOFTMAX, BOTH, "M3-inverse"),
    _wrong("softmax over the queries", DOT, "scores.softmax(dim=-2)", BOTH, "M1"),
    _wrong("softmax over the batch", DOT, "scores.softmax(dim=0)", BOTH, "M1-batch"),
    _wrong("no softmax", DOT, "scores", BOTH, "weights-scores"),
    _wrong("weights first", DOT, SOFTMAX, "weights, weights @ v", "weights-order"),
    _wrong("returns the scores", DOT, SOFTMAX, "weights @ v, scores", "weights-scores"),
    _wrong("root of the keys' number", "q @ k.transpose(-2, -1) / sqrt(k.size(1))", SOFTMAX, BOTH, "M3-keys"),
    _wrong("root of the batch", "q @ k.transpose(-2, -1) / sqrt(len(k))", SOFTMAX, BOTH, "M3-batch"),
    _wrong("weights scaled late", "q @ k.transpose(-2, -1)", "scores.softmax(-1) / sqrt(k.size(-1))", BOTH, "M3-late"),
    _wrong("returns the output alone", DOT, SOFTMAX, "weights @ v", ""),
    _wrong("keys not transposed", "q @ k / sqrt(k.size(-1))", SOFTMAX, BOTH, ""),
]
