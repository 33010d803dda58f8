"""From sentences to token ids: DistilBERT's own tokenizer, from the file that comes with the course."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from course.config import Config
from course.errors import CheckpointError, SentenceError

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedTokenizerFast

TOKENIZER_FILE = Path(__file__).parent / "checkpoints" / "mini" / "tokenizer.json"


@cache
def load_tokenizer() -> PreTrainedTokenizerFast:
    """The tokenizer of both checkpoints (uncased WordPiece, 30,522 tokens).

    ``tokenizer(sentence, return_tensors="pt")`` gives ``input_ids`` and ``attention_mask``, each of shape
    (sentences, tokens); ``tokenizer.convert_ids_to_tokens(ids)`` gives the tokens as text.
    """
    from transformers import PreTrainedTokenizerFast  # takes seconds to import; only who tokenizes waits for it

    if not TOKENIZER_FILE.is_file():
        raise CheckpointError(f"The tokenizer is missing: expected {TOKENIZER_FILE}. Install the course again.")
    return PreTrainedTokenizerFast(
        tokenizer_file=str(TOKENIZER_FILE),
        unk_token="[UNK]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        mask_token="[MASK]",
        model_max_length=Config.distilbert().max_position_embeddings,
        model_input_names=["input_ids", "attention_mask"],
    )


def encode(sentences: str | Sequence[str], config: Config) -> BatchEncoding:
    """``input_ids`` and ``attention_mask`` (batch, tokens) of a sentence, or of a batch padded to its longest.

    Raises SentenceError where a sentence has more tokens than ``config.max_position_embeddings``.
    """
    texts = [sentences] if isinstance(sentences, str) else sentences
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
        raise SentenceError(f"encode takes a sentence or a list of sentences, not {sentences!r:.60}.")
    encoded = load_tokenizer()(list(texts), padding=True, return_tensors="pt", verbose=False)
    n_tokens, limit = encoded["input_ids"].shape[1], config.max_position_embeddings
    if n_tokens > limit:
        longest = texts[int(encoded["attention_mask"].sum(dim=1).argmax())]
        raise SentenceError(
            f"The sentence {longest[:30]!r}… has {n_tokens} tokens, but the model knows {limit} positions: "
            f"shorten it or split it in two."
        )
    return encoded
