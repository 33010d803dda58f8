"""The hidden exercises of ``source/encoder_lab/``."""

from autograder.oracles import (
    encoder_lab_attention,
    encoder_lab_classifier,
    encoder_lab_embeddings,
    encoder_lab_encoder,
    encoder_lab_feed_forward,
    encoder_lab_head,
    encoder_lab_heads,
    encoder_lab_layer,
    encoder_lab_masks,
    encoder_lab_measures,
    encoder_lab_questions,
    encoder_lab_scores,
    encoder_lab_views,
)

EXERCISES = [
    *encoder_lab_attention.EXERCISES,
    *encoder_lab_classifier.EXERCISES,
    *encoder_lab_embeddings.EXERCISES,
    *encoder_lab_encoder.EXERCISES,
    *encoder_lab_feed_forward.EXERCISES,
    *encoder_lab_head.EXERCISES,
    *encoder_lab_heads.EXERCISES,
    *encoder_lab_layer.EXERCISES,
    *encoder_lab_masks.EXERCISES,
    *encoder_lab_measures.EXERCISES,
    *encoder_lab_questions.EXERCISES,
    *encoder_lab_scores.EXERCISES,
    *encoder_lab_views.EXERCISES,
]
