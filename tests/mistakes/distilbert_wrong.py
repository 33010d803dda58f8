"""Every wrong answer to the DistilBERT sheet, notebook by notebook."""

from __future__ import annotations

from tests.mistakes import (
    distilbert_wrong_block,
    distilbert_wrong_embedding,
    distilbert_wrong_model,
    distilbert_wrong_picture,
)

WRONG = [
    *distilbert_wrong_embedding.WRONG,
    *distilbert_wrong_block.WRONG,
    *distilbert_wrong_model.WRONG,
    *distilbert_wrong_picture.WRONG,
]
