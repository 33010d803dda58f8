"""Right and wrong answers to ``separator_heads``."""

from autograder.exercise import SampleAnswer


def _wrong(name: str, code: str, mistake: str = "", passes_check: bool = True) -> SampleAnswer:
    text = f"shares = torch.stack([separator_share(a, tokens) for a in attentions])\nseparator_heads = {code}\n"
    return SampleAnswer(name, text, points=0, mistake=mistake, passes_check=passes_check)


RIGHT = [
    SampleAnswer(
        "a tensor", "separator_heads = torch.stack([separator_share(a, tokens) for a in attentions]).argmax(-1)"
    ),
    SampleAnswer("read off", "separator_heads = (5, 8, 3, 11, 11, 8)"),
    SampleAnswer(
        "measured anew", "at = [6, 12]\nseparator_heads = attentions[..., at].sum((-1, -2)).argmax(1).tolist()"
    ),
    SampleAnswer(
        "sorted",
        "separator_heads = [max(range(12), key=lambda h: float(separator_share(a, tokens)[h])) for a in attentions]",
    ),
]
WRONG = [
    _wrong("the least", "shares.argmin(-1).tolist()", "heads-least"),
    _wrong("counted from 1", "(shares.argmax(-1) + 1).tolist()", "heads-from-one", passes_check=False),
    _wrong("over the layers", "shares.argmax(0).tolist()", "heads-layers", passes_check=False),
    _wrong("the second", "shares.argsort(-1)[:, -2].tolist()", "heads-second"),
    _wrong("layer 0 for all", "[int(shares[0].argmax())] * 6", "heads-one-layer"),
    _wrong("reversed", "shares.argmax(-1).tolist()[::-1]", "heads-reversed"),
    _wrong("one of 72", "[int(shares.argmax())]", passes_check=False),
]
