"""Visible checks of the transformer tutorial: ``from course.check import transformer_tutorial as check``.

They test what must be true of any right answer, and say which mistake they see. None holds the answer.
"""

from course.check.limits import limited
from course.check.transformer_tutorial.attention import (
    attention_dropout,
    attention_heads,
    attention_mask,
    attention_output,
    attention_scores,
    dot_product_attention,
)
from course.check.transformer_tutorial.block import (
    attention_cost,
    block_attention,
    block_feed_forward,
    mean_pooling,
    transformer_block,
)
from course.check.transformer_tutorial.classifier import (
    classifier_forward,
    classifier_padding,
    classifier_parts,
    masked_word_probability,
)
from course.check.transformer_tutorial.positions import positional_encoding, positional_forward, positional_values
from course.check.transformer_tutorial.self_attention import self_attention, self_attention_forward, self_attention_maps
from course.check.transformer_tutorial.words import bank_reading

__all__ = [
    "attention_cost",
    "attention_dropout",
    "attention_heads",
    "attention_mask",
    "attention_output",
    "attention_scores",
    "bank_reading",
    "block_attention",
    "block_feed_forward",
    "classifier_forward",
    "classifier_padding",
    "classifier_parts",
    "dot_product_attention",
    "masked_word_probability",
    "mean_pooling",
    "positional_encoding",
    "positional_forward",
    "positional_values",
    "self_attention",
    "self_attention_forward",
    "self_attention_maps",
    "transformer_block",
]

# each of them stops code that never ends
globals().update({each: limited(globals()[each]) for each in __all__})
