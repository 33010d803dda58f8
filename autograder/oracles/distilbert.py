"""The hidden exercises of ``source/distilbert/``, in the order of the notebooks."""

from autograder.oracles import (
    distilbert_classifier,
    distilbert_context,
    distilbert_embedding,
    distilbert_encoder,
    distilbert_figure,
    distilbert_pretrained,
    distilbert_projections,
    distilbert_scores,
    distilbert_tokens,
    distilbert_weights,
)

EXERCISES = [
    distilbert_embedding.EXERCISE,
    distilbert_projections.EXERCISE,
    distilbert_scores.EXERCISE,
    distilbert_weights.EXERCISE,
    distilbert_context.EXERCISE,
    *distilbert_encoder.EXERCISES,
    distilbert_classifier.EXERCISE,
    distilbert_pretrained.EXERCISE,
    *distilbert_tokens.EXERCISES,
    distilbert_figure.EXERCISE,
]
