"""The hidden exercises of ``source/numpy_attention/``."""

from autograder.oracles import (
    numpy_attention_finetuning,
    numpy_attention_heads,
    numpy_attention_loops,
    numpy_attention_softmax,
    numpy_attention_tests,
)

EXERCISES = [
    *numpy_attention_softmax.EXERCISES,
    *numpy_attention_heads.EXERCISES,
    *numpy_attention_loops.EXERCISES,
    *numpy_attention_finetuning.EXERCISES,
    *numpy_attention_tests.EXERCISES,
]
