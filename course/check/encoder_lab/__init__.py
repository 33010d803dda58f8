"""Visible checks of the encoder lab: ``from course.check import encoder_lab as check``.

They test what must be true of any right answer, and say which mistake they see. None holds the answer.
``check.load("AttentionHead")`` gives the class of that name from the ``models.py`` beside the notebook.
"""

from course.check.encoder_lab.attention import (
    attention_scores,
    attention_weights,
    causal_mask,
    masked_attention,
    scaled_dot_product_attention,
)
from course.check.encoder_lab.heads import attention_head, head_attention, multi_head_attention, multi_head_init
from course.check.encoder_lab.layer import encoder_layer
from course.check.encoder_lab.layers import embeddings, feed_forward
from course.check.encoder_lab.loading import load
from course.check.encoder_lab.model import classification_head, classifier, encoder
from course.check.encoder_lab.questions import decoder_parts, position_kinds
from course.check.encoder_lab.views import (
    moved,
    previous_token,
    products,
    readings,
    sentence_b_start,
    separator_heads,
    separator_share,
)
from course.check.limits import limited

__all__ = [
    "attention_head",
    "attention_scores",
    "attention_weights",
    "causal_mask",
    "classification_head",
    "classifier",
    "decoder_parts",
    "embeddings",
    "encoder",
    "encoder_layer",
    "feed_forward",
    "head_attention",
    "load",
    "masked_attention",
    "moved",
    "multi_head_attention",
    "multi_head_init",
    "position_kinds",
    "previous_token",
    "products",
    "readings",
    "scaled_dot_product_attention",
    "sentence_b_start",
    "separator_heads",
    "separator_share",
]

# each of them stops code that never ends
globals().update({each: limited(globals()[each]) for each in __all__})
