"""Every right answer in another style than the course's own, notebook by notebook."""

from __future__ import annotations

from tests.mistakes import distilbert_right_block, distilbert_right_model, distilbert_right_picture

RIGHT = [*distilbert_right_block.RIGHT, *distilbert_right_model.RIGHT, *distilbert_right_picture.RIGHT]
