"""A masked language model, where one can be had: BERT, which was trained to guess words that were covered up.

The model is 440 MB large and no part of the course. ``available()`` says whether it is on this computer already.
What a much smaller model said of thirty sentences is stored in ``data/masked_words``: ``stored_pairs()``.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors.torch import load_file
from torch import Tensor

from course import hub
from course.errors import CheckpointError, SentenceError
from course.tokenizer import load_tokenizer

if TYPE_CHECKING:
    from transformers import BertConfig, BertForMaskedLM

#: Devlin et al. 2018, arXiv:1810.04805, Apache-2.0. Its vocabulary is the course's, entry by entry.
BERT = hub.HubFile(
    repository="google-bert/bert-base-uncased",
    revision="86b5e0934494bd15c9632b12f734a8a67f723594",
    name="model.safetensors",
    size=440_449_768,
    sha256="68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3",
)

STORED = Path(__file__).parent / "data" / "masked_words" / "rows.json"

#: Parts of the file that a masked language model has no use for.
_LEFT_OUT = ("bert.pooler.", "cls.seq_relationship.", "bert.embeddings.position_ids")


@dataclass(frozen=True)
class Gap:
    """A sentence with one word covered up, and the words that are compared in its place."""

    text: str  # with [MASK] where the word was
    words: tuple[str, ...]


def parse(sentence: str) -> Gap:
    """``"The doctor picked up his/her bag."`` -> the sentence with a gap, and the words ``his`` and ``her``.

    Raises SentenceError unless there is exactly one position with a slash, and each of its words is one token.
    """
    places = [index for index, word in enumerate(sentence.split()) if "/" in word.strip("/")]
    if len(places) != 1:
        raise SentenceError(
            f"Write two words with a slash between them, once: his/her. {sentence!r} has {len(places)} such places."
        )
    words = sentence.split()
    choice = words[places[0]]
    bare = choice.strip(".,;:!?\"'()")
    options = tuple(bare.lower().split("/"))
    for word in options:
        if not word or word not in load_tokenizer().get_vocab():
            raise SentenceError(
                f"{word!r} is not one entry of the model's vocabulary, and only such a word can fill one gap."
            )
    words[places[0]] = choice.replace(bare, "[MASK]")
    return Gap(" ".join(words), options)


@dataclass(frozen=True)
class Stored:
    """What a masked language model said of one sentence: word -> probability at the gap."""

    sentence: str
    words: dict[str, float]  # the two that are compared
    top: dict[str, float]  # the five most probable ones

    def logits(self) -> tuple[Tensor, int, list[int]]:
        """As ``logits_of`` gives them, for a vocabulary of these words and one entry that stands for all others.

        The logarithms of probabilities are logits: their softmax gives the probabilities back.
        """
        known = {**self.words, **self.top}
        rest = max(1 - sum(known.values()), 1e-7)
        row = torch.tensor([*known.values(), rest]).log()  # (words + 1,)
        return row.unsqueeze(0), 0, list(range(len(self.words)))


def stored_pairs() -> list[tuple[Stored, Stored]]:
    """(a sentence about people, its control) of ``data/masked_words``; the README there says whose answers."""
    pairs = json.loads(STORED.read_text(encoding="utf-8"))["pairs"]
    return [(Stored(**pair["people"]), Stored(**pair["control"])) for pair in pairs]


def available() -> bool:
    """Is the model on this computer? Nothing is downloaded."""
    return hub.cached(BERT) is not None


def load(file: hub.HubFile = BERT, config: "BertConfig | None" = None) -> "BertForMaskedLM":
    """BERT with its masked-word head, in eval mode; downloaded once (440 MB) if need be.

    Raises DownloadError where the hub cannot be reached, CheckpointError where the file is not what was expected.
    """
    from transformers import BertConfig, BertForMaskedLM

    model = BertForMaskedLM(config or BertConfig())
    state = _renamed(load_file(Path(hub.fetch(file))))
    missing, unexpected = model.load_state_dict(state, strict=False)
    # the output layer's matrix is the word embedding itself
    missing = [name for name in missing if not name.startswith("cls.predictions.decoder.")]
    if missing or unexpected:
        raise CheckpointError(f"{file.repository}: expected the tensors of a masked language model; "
                              f"missing {missing[:3]}, unexpected {unexpected[:3]}.")  # fmt: skip
    model.tie_weights()
    return model.eval()


def _renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The file dates from 2018 and calls a LayerNorm's weight gamma and its bias beta."""
    kept = {name: tensor for name, tensor in state.items() if not name.startswith(_LEFT_OUT)}
    return {
        name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): tensor
        for name, tensor in kept.items()
    }


def logits_of(model: "BertForMaskedLM", gap: Gap) -> tuple[Tensor, int, list[int]]:
    """-> logits (tokens, vocabulary), the gap's position, and the ids of the gap's words"""
    tokenizer = load_tokenizer()
    encoded = tokenizer(gap.text, return_tensors="pt")
    ids = encoded["input_ids"]
    position = int((ids[0] == tokenizer.mask_token_id).nonzero()[0])
    with torch.no_grad():
        logits = model(input_ids=ids, attention_mask=encoded["attention_mask"]).logits[0]
    return logits, position, [tokenizer.get_vocab()[word] for word in gap.words]
