"""Sentences to ids."""

from __future__ import annotations

import pytest

from course import Config
from course.errors import SentenceError
from course.tokenizer import encode, load_tokenizer

SENTENCE = "This was one of the best movies I have ever seen."
IDS = [101, 2023, 2001, 2028, 1997, 1996, 2190, 5691, 1045, 2031, 2412, 2464, 1012, 102]


def test_the_sentence_of_the_sheet_has_its_fourteen_ids() -> None:
    inputs = load_tokenizer()(SENTENCE, return_tensors="pt")
    assert list(inputs) == ["input_ids", "attention_mask"]
    assert inputs["input_ids"].tolist() == [IDS]
    assert inputs["attention_mask"].tolist() == [[1] * 14]


def test_ids_become_tokens_again() -> None:
    tokens = load_tokenizer().convert_ids_to_tokens(IDS)
    assert " ".join(tokens) == "[CLS] this was one of the best movies i have ever seen . [SEP]"


def test_the_special_tokens_have_distilberts_ids() -> None:
    tokenizer = load_tokenizer()
    special = (tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id)
    assert (*special, tokenizer.mask_token_id, len(tokenizer)) == (0, 100, 101, 102, 103, 30522)


def test_a_batch_is_padded_to_its_longest_sentence() -> None:
    batch = encode([SENTENCE, "I hate this so much!"], Config.mini())
    assert batch["input_ids"][1].tolist() == [101, 1045, 5223, 2023, 2061, 2172, 999, 102] + [0] * 6
    assert batch["attention_mask"].sum(dim=1).tolist() == [14, 8]


def test_a_sentence_of_512_tokens_is_taken_and_one_more_is_refused() -> None:
    config = Config.distilbert()
    assert encode("word " * 510, config)["input_ids"].shape == (1, 512)
    with pytest.raises(SentenceError) as error:
        encode(["short", "word " * 511], config)
    message = str(error.value)
    assert "word word" in message and "513 tokens" in message and "512" in message and "\n" not in message


@pytest.mark.parametrize("nothing", [[], 7, [3, 4], None])
def test_what_is_no_sentence_is_refused(nothing: object) -> None:
    with pytest.raises(SentenceError, match="takes a sentence"):
        encode(nothing, Config.mini())  # type: ignore[arg-type]
