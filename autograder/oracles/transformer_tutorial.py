"""The hidden exercises of ``source/transformer_tutorial/``."""

from autograder.oracles import (
    transformer_tutorial_attention,
    transformer_tutorial_block,
    transformer_tutorial_classifier,
    transformer_tutorial_cost,
    transformer_tutorial_heads,
    transformer_tutorial_positions,
    transformer_tutorial_self_attention,
    transformer_tutorial_words,
)

EXERCISES = [
    *transformer_tutorial_words.EXERCISES,
    *transformer_tutorial_attention.EXERCISES,
    *transformer_tutorial_heads.EXERCISES,
    *transformer_tutorial_self_attention.EXERCISES,
    *transformer_tutorial_block.EXERCISES,
    *transformer_tutorial_cost.EXERCISES,
    *transformer_tutorial_positions.EXERCISES,
    *transformer_tutorial_classifier.EXERCISES,
]
