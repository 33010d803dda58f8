"""``RMSNorm``. Expected answers: transformers' own LlamaRMSNorm. Small numbers show eps, a row of zeros its absence."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, variant

from ._llama import draw_norm, loaded, tensor
from ._rules import PLAIN, norm


def cases(generator: np.random.Generator) -> list[Case]:
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    made = []
    for shape, size, eps in (
        ((3, 4, 6), 1.0, None), ((2, 5, 7), 1e-3, None), ((4, 3, 5), 0.2, 0.05), ((6, 8), 1e3, None),
        ((1, 3, 5), 1.0, None),
    ):  # fmt: skip
        x = (size * generator.normal(0.5, 1, shape)).astype(np.float32)
        x[0, 0] = 0
        weight = draw_norm(generator, shape[-1])
        theirs = loaded(LlamaRMSNorm(shape[-1], eps=eps or 1e-6), {"weight": weight})
        expected = {"output": theirs(tensor(x)).detach().numpy(), "start": np.ones(shape[-1])}
        config = {"dim": shape[-1], "given": {"eps": eps} if eps else {}}
        made.append(Case(config, {"x": x}, {"weight": weight}, expected=expected))
    return made


# Lines of the solution that mistakes change.
SQUARE = "x.square().mean(dim=-1, keepdim=True)"
VARIANCE = "x.var(dim=-1, correction=0, keepdim=True)"
ROOT = "torch.sqrt(mean_square + self.eps)"
WEIGHT = "nn.Parameter(torch.ones(dim))"

MISTAKES = [
    Mistake("RMS-mean", "This is a LayerNorm: the mean was subtracted.", "RMSNorm only divides.", (SQUARE, VARIANCE),
            ("return x /", "return (x - x.mean(dim=-1, keepdim=True)) /")),
    Mistake("RMS-variance", "x was divided by its standard deviation, not by the root of its mean square.",
            "Square, mean, root: no mean is subtracted on the way.", (SQUARE, VARIANCE)),
    Mistake("RMS-root", "The root is missing: x was divided by its mean square.", "What does the R of RMS stand for?",
            (ROOT, "(mean_square + self.eps)")),
    Mistake("RMS-sum", "x was divided by its length: the root of the sum of squares.",
            "What does the M of RMS stand for?", (SQUARE, SQUARE.replace("mean", "sum"))),
    Mistake("RMS-absolute", "x was divided by the mean of its absolute values.", "Square, mean, root.",
            (SQUARE, SQUARE.replace("square", "abs")), (ROOT, "(mean_square + self.eps)")),
    Mistake("RMS-no-eps", "eps is missing.", "A vector of zeros must not give nan.",
            ("mean_square + self.eps", "mean_square")),
    Mistake("RMS-eps", "eps was added outside of the root.", "It belongs to the mean square.",
            (ROOT, "(torch.sqrt(mean_square) + self.eps)")),
    Mistake("RMS-default", "The eps that was asked for is not used.", "It comes with __init__: keep it in self.",
            ("mean_square + self.eps", "mean_square + 1e-6")),
    Mistake("RMS-weight", "The learned weight is missing.", "It is the last factor.", (" * self.weight", "")),
    Mistake("RMS-one", "The output was multiplied by 1 + weight.", "Here the weight itself is the factor.",
            ("* self.weight", "* (1 + self.weight)")),
    Mistake("RMS-added", "The weight was added.", "It is a factor.", ("* self.weight", "+ self.weight")),
    Mistake("RMS-axis", "The mean runs over the tokens.", "Each token is normalised by itself: over the last axis.",
            ("dim=-1", "dim=-2")),
    Mistake("RMS-all", "One number was computed for the whole batch.", "Each token is normalised by itself.",
            (SQUARE, "x.square().mean()")),
    Mistake("RMS-unbiased", "The sum of squares was divided by one too few.",
            "A mean divides by the number of numbers.",
            (SQUARE, f"{SQUARE.replace('mean', 'sum')} / (x.shape[-1] - 1)")),
    PLAIN.by((WEIGHT, "torch.ones(dim)")),
    Mistake("RMS-start", "The weight does not start as ones.", "An untrained norm scales nothing.",
            ("torch.ones", "torch.zeros"), share=0.5),
    CHANGED.by(("return x / ", "return x.div_("), ("self.eps) *", "self.eps)) *")),
    CUT.by(("* self.weight", "* self.weight.detach()")),
    CUT.by((SQUARE, f"{SQUARE}.detach()")),
]  # fmt: skip

HEAD = """class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):"""
RIGHT = {
    "rsqrt, as in Llama": variant(HEAD, """
        variance = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + self.eps))
    """),
    "torch's own": variant(HEAD, "return F.rms_norm(x, self.weight.shape, self.weight, self.eps)"),
    "a root of the length": variant(HEAD, """
        size = x.norm(dim=-1, keepdim=True) / math.sqrt(x.shape[-1])
        return x * self.weight / torch.sqrt(size**2 + self.eps)
    """),
    "einsum, in float64": variant(HEAD, """
        y = x.double()
        mean_square = torch.einsum("...i,...i->...", y, y)[..., None] / x.shape[-1]
        return (y * (mean_square + self.eps) ** -0.5).to(x.dtype) * self.weight
    """),
    "another name for the number": variant(HEAD.replace("self.eps", "self.epsilon"), """
        return x.div((x * x).sum(-1, keepdim=True).div(len(self.weight)).add(self.epsilon).sqrt()).mul(self.weight)
    """),
    "register_parameter": [(f"self.weight = {WEIGHT}", f'self.register_parameter("weight", {WEIGHT})')],
}  # fmt: skip

EXERCISE = Exercise(
    cases, norm, MISTAKES, right=RIGHT, framework="torch",
    shows=("divided, not centred", "mean square 1", "eps under the root", "a learned weight"),
)  # fmt: skip
