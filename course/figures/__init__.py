"""Pictures of attention, and the course's drawings. Each function gives back a figure, which the cell then shows."""

from course.attention_html import head_view, model_view
from course.figures.attention_schematics import (
    attention_in_distilbert,
    attention_in_encoder_lab,
    attention_in_numpy,
    four_matrices,
    multi_head,
)
from course.figures.heatmaps import attention_heatmaps, head_grid
from course.figures.neurons import neuron_view
from course.figures.schematics import (
    attention_block,
    embedding_sum,
    pipeline,
    pipeline_embedding,
    pipeline_model,
    pre_and_post_norm,
)

__all__ = [
    "attention_block",
    "attention_heatmaps",
    "attention_in_distilbert",
    "attention_in_encoder_lab",
    "attention_in_numpy",
    "embedding_sum",
    "four_matrices",
    "head_grid",
    "head_view",
    "model_view",
    "multi_head",
    "neuron_view",
    "pipeline",
    "pipeline_embedding",
    "pipeline_model",
    "pre_and_post_norm",
]
