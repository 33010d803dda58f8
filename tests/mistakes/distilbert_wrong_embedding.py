"""Notebook 1: wrong ways to merge words and positions."""

from __future__ import annotations

from tests.mistakes.distilbert_answer import EMBEDDING, StudentAnswer

SUM = "embeddings = input_embeds + position_embeddings"
POSITIONS = "torch.arange(input_ids.shape[1], device=input_ids.device)"
EXPANDED = "position_ids = position_ids.expand_as(input_ids)"
NORM = "self.LayerNorm(embeddings)"


def merged(name: str, line: str, mistake: str | None, fast: bool = False) -> StudentAnswer:
    """Another line in place of the one that was asked for."""
    return _wrong(name, ((SUM, line),), mistake, fast)


def _wrong(name: str, changes: tuple[tuple[str, str], ...], mistake: str | None, fast: bool = False) -> StudentAnswer:
    return StudentAnswer(name, EMBEDDING, "embeddings_answer", "", changes, ("embeddings",), mistake, fast=fast)


def positions(name: str, line: str, mistake: str | None) -> StudentAnswer:
    """Other position ids; the line says what stands behind ``position_ids =``."""
    return _wrong(name, ((EXPANDED, f"position_ids = {line}"),), mistake)


WRONG = [
    merged("multiplied", "embeddings = input_embeds * position_embeddings", "M11-product", fast=True),
    merged("subtracted", "embeddings = input_embeds - position_embeddings", "M11-difference"),
    merged("averaged", "embeddings = (input_embeds + position_embeddings) / 2", "M11-mean"),
    merged("words alone", "embeddings = input_embeds", "M11-none"),
    merged("positions alone", "embeddings = position_embeddings", "M11-words"),
    merged("laid side by side", "embeddings = torch.cat([input_embeds, position_embeddings], dim=-1)", None),
    merged(
        "laid behind each other", "embeddings = torch.cat([input_embeds, position_embeddings], dim=1)", "M11-concat"
    ),
    merged(
        "dropout that is never switched off",
        "embeddings = nn.functional.dropout(input_embeds + position_embeddings, 0.1)",
        "M16",
    ),
    positions("arange of the batch", "torch.arange(input_ids.shape[0]).expand_as(input_ids)", None),
    positions("along the batch", "torch.arange(input_ids.shape[0])[:, None].expand_as(input_ids)", "M11-batch"),
    positions("from one", "(position_ids + 1).expand_as(input_ids)", "M11-one"),
    positions("always zero", "torch.zeros_like(input_ids)", "M11-zero"),
    positions("the token ids themselves", "input_ids", "M11-ids"),
    positions("from the end", "position_ids.flip(0).expand_as(input_ids)", "M11-reversed"),
    _wrong("LayerNorm with its default eps", (("config.dim, eps=config.eps", "config.dim"),), "M13"),
    _wrong("no LayerNorm", ((NORM, "embeddings"),), "M8-none"),
    _wrong("LayerNorm before the sum", ((NORM, "self.LayerNorm(input_embeds) + position_embeddings"),), "M8"),
]
