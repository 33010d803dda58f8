"""Token ids turned back into tokens. Expected answers: from the vocabulary itself."""

from __future__ import annotations

import numpy as np

from autograder.exercise import TEXT, Case, Exercise, Mistake, text_array, variant

from ._rules import tokens_rule
from ._sentences import tokens_of


def cases(generator: np.random.Generator) -> list[Case]:
    made = [_drawn(generator, 6), _drawn(generator, 9)]
    made[1][10:10] = made[1][1:9]  # every id has its token, also those that come twice, and whatever their number
    return [
        Case({}, {"input_ids": np.array([ids])}, expected={TEXT + "tokens": text_array(tokens_of(ids))}) for ids in made
    ]


def _drawn(generator: np.random.Generator, words: int) -> list[int]:
    """A sentence's ids, pieces of words among them: they tell how their marks are kept."""
    while True:
        ids = [101, *generator.integers(2000, 29000, words).tolist(), 102]
        if any(word.startswith("##") for word in tokens_of(ids)):
            return ids


#: The solution's answer.
CONVERTED = "tokenizer.convert_ids_to_tokens(input_ids[0].tolist())"
COUNT = Mistake("M17-count", "{ids} ids came in, {tokens} tokens went out.", "Every id has its token, and no other.")
SENTENCE = Mistake("M17-sentence", "This is one sentence; what is asked for is a list with one token per id.",
                   "Decoding joins the word pieces; look for a method that converts ids one by one.")  # fmt: skip

MISTAKES = [
    Mistake("M17-nested", "The tokens are wrapped in one list too many.",
            "input_ids has a batch axis; a sentence is one row of it.", (CONVERTED, f"[{CONVERTED}]")),
    Mistake("M17-special", "[CLS] and [SEP] are missing.", "They are tokens like the others: every id has its token.",
            (CONVERTED, CONVERTED.replace("tolist()", "tolist(), skip_special_tokens=True"))),
    Mistake("M17-marks", "The marks of word pieces are missing.", "A piece that continues a word keeps its ##.",
            (CONVERTED, f'[token.lstrip("#") for token in {CONVERTED}]')),
    Mistake("M17-reversed", "The tokens stand in reverse order.", "The first id's token comes first.",
            (CONVERTED, f"{CONVERTED}[::-1]")),
    SENTENCE.by((CONVERTED, "tokenizer.decode(input_ids[0])")),
    SENTENCE.by((CONVERTED, f'" ".join({CONVERTED})')),
    COUNT.by((CONVERTED, f"{CONVERTED} * 2")),
    COUNT.by((CONVERTED, f"list(dict.fromkeys({CONVERTED}))")),
    COUNT.by((CONVERTED, f"{CONVERTED}[:16]")),
    Mistake("M17-ids", "These are numbers; a token is text.", "Ids become tokens by a method of the tokenizer.").by(
        (CONVERTED, "input_ids[0].tolist()")),
]  # fmt: skip

HEAD = "def ids_to_tokens(tokenizer, input_ids):"
RIGHT = {
    "each id decoded by itself": variant(HEAD, "return [tokenizer.decode([i]) for i in input_ids[0].tolist()]"),
    "a batch of single ids decoded": variant(HEAD, "return tokenizer.batch_decode(input_ids.T)"),
    "a tuple by map, keywords alone": variant(
        HEAD, "return (*map(tokenizer.convert_ids_to_tokens, input_ids.tolist()[0]),)"
    ),
    "the backend's own lookup, with type hints and a walrus": variant(
        HEAD,
        "row: list[int] = input_ids.view(-1).tolist()\n"
        "look = tokenizer.backend_tokenizer.id_to_token\n"
        "return [token for i in row if (token := look(i)) is not None]",
    ),
    "a tensor of ids": variant(HEAD, "return tokenizer.convert_ids_to_tokens(input_ids[0])"),
    "id by id": variant(HEAD, "return [tokenizer.convert_ids_to_tokens(int(i)) for i in input_ids[0]]"),
    "batch axis squeezed away": variant(HEAD, "return tokenizer.convert_ids_to_tokens(input_ids.squeeze().numpy())"),
    "the vocabulary inverted": variant(
        HEAD,
        "words = {i: word for word, i in tokenizer.get_vocab().items()}\n"
        "return tuple(words[i] for i in input_ids.flatten().tolist())",
    ),
}

EXERCISE = Exercise(
    cases, tokens_rule, MISTAKES, right=RIGHT, framework="torch",
    shows=("one token for each id", "[CLS] and [SEP] are there", "pieces of words stay apart"),
)  # fmt: skip
