"""The hidden exercises of ``source/distilbert/``."""

from autograder.oracles import distilbert_block, distilbert_figure, distilbert_model

EXERCISES = [*distilbert_block.EXERCISES, *distilbert_model.EXERCISES, *distilbert_figure.EXERCISES]
