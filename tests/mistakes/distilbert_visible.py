"""The visible checks alone, on many answers in one plain process: ``python -m tests.mistakes.distilbert_visible``.

Reads ``[[cell text, [check line, ...]], ...]`` as JSON; writes for each answer ``{check line: message}``, "" where
the check passed.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import sys
from typing import Any


def names() -> dict[str, Any]:
    """What the notebooks' given cells define before the student's: their imports, and the ready-made earlier parts."""
    import matplotlib

    matplotlib.use("agg")
    import torch
    from matplotlib import pyplot
    from torch import nn

    from course import parts
    from course.check import distilbert as check

    torch.set_num_threads(1)
    given = {"torch": torch, "nn": nn, "math": math, "plt": pyplot, "check": check}
    return given | {"Embeddings": parts.ReadyEmbeddings, "AttentionBlock": parts.ReadyAttentionBlock}


def messages(text: str, checks: list[str]) -> dict[str, str]:
    space = names()
    exec(text, space)
    if "DistilBertClassifier" not in space and "DistillBertAttention" in space:
        space["DistilBertClassifier"] = space["DistillBertAttention"]
    said = {}
    for check in checks:
        try:
            exec(check, space)
            said[check] = ""
        except Exception as error:
            said[check] = f"{type(error).__name__}: {error}"
    return said


if __name__ == "__main__":
    with contextlib.redirect_stdout(io.StringIO()):
        everything = [messages(text, checks) for text, checks in json.load(sys.stdin)]
    json.dump(everything, sys.stdout)
