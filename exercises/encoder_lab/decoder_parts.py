"""Of which sublayer of a decoder layer a statement is true."""

from __future__ import annotations

from .._choices import statements

QUESTIONS = {
    "each head has 4 · 7 scores": ("cross", {
        "masked": "its queries and its keys are the same 4 tokens, so its scores are square.",
        "both": "one of the two has its queries and keys from the same 4 tokens, and so a square of scores.",
        "neither": "somewhere the 4 tokens being written must ask the 7 that were read.",
    }),
    "one query per token that was written": ("both", {
        "masked": "the other sublayer asks the sentence that was read, and it is the written tokens that ask.",
        "cross": "in the other sublayer, too, every written token asks; it asks the written tokens up to itself.",
        "neither": "each sublayer gives a vector to every token that was written, and so every one of them asks.",
    }),
    "another sentence is read: queries, keys and values stay the same": ("masked", {
        "cross": "its keys and values are made of the encoder's output, which changes with the sentence.",
        "both": "one of the two has keys and values made of the encoder's output, which changes.",
        "neither": "the first sublayer of the first layer sees nothing but the written tokens' embeddings.",
    }),
    "without its mask, training would show each token the next one": ("masked", {
        "cross": "the tokens that were read are all known beforehand, and none of them is to be predicted.",
        "both": "one of the two looks at the sentence that was read, in which nothing is to be predicted.",
        "neither": "in training the whole text is given at once, the next token with it.",
    }),
    "a fifth token is written: the keys of the first four change": ("neither", {
        "masked": "no token looks at a later one, so its vector, and the key made of it, stay what they were.",
        "cross": "its keys belong to the 7 tokens that were read, and nothing new was read.",
        "both": "one of the two has keys of read tokens only; in the other no token looks at a later one.",
    }),
}  # fmt: skip

EXERCISE = statements("decoder_parts", QUESTIONS)
