"""Visible checks of the four DistilBERT notebooks: ``from course.check import distilbert as check``.

They test what must be true of any right answer, and say which mistake they see. None holds the answer.
"""

from course.check.distilbert.attention import attention_scores, attention_weights
from course.check.distilbert.context import attention_block, attention_context
from course.check.distilbert.embedding import embeddings
from course.check.distilbert.encoder import encoder_list, encoder_loop
from course.check.distilbert.head import classifier, classifier_model, prediction
from course.check.distilbert.masked import padding
from course.check.distilbert.picture import figure, head_average, tokens
from course.check.distilbert.projections import attention_init
from course.check.limits import limited

__all__ = [
    "attention_block",
    "attention_context",
    "attention_init",
    "attention_scores",
    "attention_weights",
    "classifier",
    "classifier_model",
    "embeddings",
    "encoder_list",
    "encoder_loop",
    "figure",
    "head_average",
    "padding",
    "prediction",
    "tokens",
]

# each of them stops code that never ends
globals().update({each: limited(globals()[each]) for each in __all__})
