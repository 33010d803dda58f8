"""Vectors of written answers, by which a page for graders puts like answers together; students need nothing of it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course.parts import ReadyClassifier
from course.pretrained import load
from course.tokenizer import load_tokenizer

#: The later layers of ``mini`` know little but whether a sentence is friendly: it was fine-tuned on reviews.
LAYERS = 3
MAX_TOKENS = 256


@torch.no_grad()
def encode(texts: Sequence[str]) -> Tensor:
    """The mean of the tokens' vectors after the first layers of ``mini``: (texts, dim)"""
    model, tokenizer = load(ReadyClassifier).eval(), load_tokenizer()
    found = []
    for text in texts:
        ids = tokenizer(text, return_tensors="pt", truncation=True, max_length=MAX_TOKENS)["input_ids"]
        vectors = model.embeddings(ids)  # (1, tokens, dim)
        for block in list(model.attention_layers)[:LAYERS]:
            vectors, _ = block(vectors)
        found.append(vectors[0].mean(dim=0))
    return torch.stack(found)
