"""What sample answers of several exercises are made of: a block and a model with places to fill, and changed lines."""

from __future__ import annotations

from textwrap import indent
from typing import Any

from autograder.exercise import SampleAnswer


def wrong(name: str, mistake: str, *changes: tuple[str, str], **others: Any) -> SampleAnswer:
    """The instructor's solution with some lines changed, which costs all points; ``mistake`` may be empty."""
    return SampleAnswer(name, changes=changes, mistake=mistake, points=0, **others)


# --- the model --------------------------------------------------------------------------------------------------------

MODEL = """
class {name}(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        {layers}
        self.attention_probs = {kept}
        self.classifier = nn.Linear(config.dim, config.n_classes)
        self.pre_classifier = nn.Linear(config.dim, config.dim)
        {more}

    def forward(self, input_ids):
        {loop}
        pooled_output = {pooled}
        {logits}
        return logits
"""
LAYERS = "self.attention_layers = nn.ModuleList([AttentionBlock(config) for _ in range(config.n_layers)])"
LOOP = """output = self.embeddings(input_ids)
for i, layer in enumerate(self.attention_layers):
    output, self.attention_probs[i] = layer(output)"""
LOGITS = "logits = self.classifier(torch.relu(self.pre_classifier(pooled_output)))"


def model(
    layers: str = LAYERS,
    loop: str = LOOP,
    kept: str = "{}",
    pooled: str = "output[:, 0]",
    logits: str = LOGITS,
    more: str = "",
    called: str = "DistilBertClassifier",
) -> str:
    """A right model; each part may be written in another way."""
    parts = {"layers": layers, "loop": loop, "logits": logits, "more": more}
    inner = {part: indent(code, " " * 8).strip() for part, code in parts.items()}
    return MODEL.format(name=called, kept=kept, pooled=pooled, **inner)
