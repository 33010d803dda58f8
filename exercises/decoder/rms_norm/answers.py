"""Right and wrong ways to normalise by the root mean square."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import module, right, wrong

SQUARE = "x.square().mean(dim=-1, keepdim=True)"
RESULT = "x / torch.sqrt(mean_square + self.eps) * self.weight"
WEIGHT = "nn.Parameter(torch.ones(dim))"
INIT = "self.weight = nn.Parameter(torch.ones(dim))\nself.eps = eps"


def norm(name: str, lines: str, init: str = INIT) -> SampleAnswer:
    return module(name, "RMSNorm", "dim, eps=1e-6", init, "x", lines)


RIGHT = [
    norm("rsqrt, as in Llama", """
        variance = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + self.eps))
    """),
    norm("torch's own", "return F.rms_norm(x, self.weight.shape, self.weight, self.eps)"),
    norm("a root of the length", """
        size = x.norm(dim=-1, keepdim=True) / math.sqrt(x.shape[-1])
        return x * self.weight / torch.sqrt(size**2 + self.eps)
    """),
    norm("einsum, in float64", """
        y = x.double()
        mean_square = torch.einsum("...i,...i->...", y, y)[..., None] / x.shape[-1]
        return (y * (mean_square + self.eps) ** -0.5).to(x.dtype) * self.weight
    """),
    norm("another name for the number", """
        return x.div((x * x).sum(-1, keepdim=True).div(self.dim).add(self.epsilon).sqrt()).mul(self.weight)
    """, "self.dim, self.epsilon = dim, eps\nself.weight = nn.Parameter(torch.full((dim,), 1.0))"),
    right("register_parameter", (f"self.weight = {WEIGHT}", f'self.register_parameter("weight", {WEIGHT})')),
]  # fmt: skip

WRONG = [
    wrong("LayerNorm", "RMS-mean", (SQUARE, "x.var(dim=-1, correction=0, keepdim=True)"),
          ("return x /", "return (x - x.mean(dim=-1, keepdim=True)) /")),
    wrong("variance in place of the mean square", "RMS-variance",
          (SQUARE, "x.var(dim=-1, correction=0, keepdim=True)")),
    wrong("no root", "RMS-root", ("torch.sqrt(mean_square + self.eps)", "(mean_square + self.eps)")),
    wrong("a sum", "RMS-sum", (SQUARE, "x.square().sum(dim=-1, keepdim=True)")),
    wrong("absolute values", "RMS-absolute", (SQUARE, "x.abs().mean(dim=-1, keepdim=True)"),
          ("torch.sqrt(mean_square + self.eps)", "(mean_square + self.eps)")),
    wrong("no eps", "RMS-no-eps", ("mean_square + self.eps", "mean_square")),
    wrong("eps outside of the root", "RMS-eps", ("torch.sqrt(mean_square + self.eps)",
                                                 "(torch.sqrt(mean_square) + self.eps)")),
    wrong("an eps of its own", "RMS-default", ("mean_square + self.eps", "mean_square + 1e-6")),
    wrong("no weight", "RMS-weight", (" * self.weight", "")),
    wrong("1 + weight", "RMS-one", ("* self.weight", "* (1 + self.weight)")),
    wrong("weight added", "RMS-added", ("* self.weight", "+ self.weight")),
    wrong("over the tokens", "RMS-axis", ("dim=-1", "dim=-2")),
    wrong("over the batch", "RMS-all", (SQUARE, "x.square().mean()")),
    wrong("divided by one too few", "RMS-unbiased",
          (SQUARE, "x.square().sum(dim=-1, keepdim=True) / (x.shape[-1] - 1)")),
    wrong("weight is no parameter", "RMS-plain", (WEIGHT, "torch.ones(dim)"), points=1),
    wrong("starts as zeros", "RMS-start", ("torch.ones", "torch.zeros"), points=1),
    wrong("changed in place", "CHANGED", ("return x / ", "return x.div_("), ("self.eps) *", "self.eps)) *")),
    wrong("cut off from the weight", "CUT", ("* self.weight", "* self.weight.detach()")),
]  # fmt: skip
