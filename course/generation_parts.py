"""Ready-made parts of the notebook on writing, and what it measures: repetition, and a task for cross-attention."""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course.stories import START, VOCABULARY, decode, encode

#: logits (1, vocabulary) -> the id of the next word (1,)
Choose = Callable[[Tensor], Tensor]


def ready_temperature(logits: Tensor, value: float) -> Tensor:
    """(batch, vocabulary) -> probabilities of the same shape; 0 is the greedy choice."""
    if value == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    return (logits / value).softmax(-1)


def ready_top_k(probabilities: Tensor, k: int) -> Tensor:
    """The k likeliest words of each row, ties included, as probabilities (batch, vocabulary)."""
    least = probabilities.topk(min(k, probabilities.shape[-1])).values[..., -1:]
    kept = torch.where(probabilities >= least, probabilities, 0.0)
    return kept / kept.sum(-1, keepdim=True)


def ready_top_p(probabilities: Tensor, p: float) -> Tensor:
    """The fewest likeliest words of each row with at least p together, as probabilities (batch, vocabulary)."""
    ordered, order = probabilities.sort(descending=True)
    kept = torch.where(ordered.cumsum(-1) - ordered < p, ordered, 0.0)
    return (kept / kept.sum(-1, keepdim=True)).gather(-1, order.argsort(-1))


def ready_generate(
    model: Callable[[Tensor], Tensor], ids: Tensor, words: int, choose: Choose, end: int, context: int
) -> Tensor:
    """The prompt ids (tokens,) and at most so many chosen words; stops after the end word."""
    for _ in range(words):
        ids = torch.cat([ids, choose(model(ids[-context:].unsqueeze(0))[:, -1])])
        if int(ids[-1]) == end:
            break
    return ids


def chooser(filters: Callable[[Tensor], Tensor], seed: int = 0) -> Choose:
    """Draws from the probabilities that ``filters`` makes of logits, with a seed."""
    generator = torch.Generator().manual_seed(seed)
    return lambda logits: torch.multinomial(filters(logits), 1, generator=generator)[:, 0]


def prompt(text: str) -> Tensor:
    """The ids of the beginning of a story (tokens,)"""
    return torch.tensor(encode(f"{START} {text}"))


def story(ids: Tensor) -> str:
    """The text of a story, without the word that begins and ends it."""
    return decode(ids).replace(START, "").strip()


def end_word() -> int:
    """The id of the word that ends a story."""
    return VOCABULARY.index(START)


def repeated(texts: Iterable[Sequence[int]], length: int = 4) -> float:
    """The share of pieces of so many neighbouring words that occurred before, in the same text or an earlier one."""
    seen: set[tuple[int, ...]] = set()
    count = again = 0
    for ids in texts:
        for start in range(len(ids) - length + 1):
            piece = tuple(int(number) for number in ids[start : start + length])
            again += piece in seen
            count += 1
            seen.add(piece)
    return again / count if count else 0.0


@torch.no_grad()
def surprisal(model: nn.Module, texts: Iterable[Tensor]) -> float:
    """Minus the mean log-probability that the model gives each word after the first, over all texts (tokens,)"""
    found = []
    for ids in texts:
        logs = model(ids[None, :-1])[0].log_softmax(-1)  # (tokens - 1, vocabulary)
        found.append(-logs.gather(1, ids[1:, None])[:, 0])
    return float(torch.cat(found).mean())


class Copier(nn.Module):
    """A decoder of one cross-attention: each place of the copy asks the source for its word.

    source (batch, tokens) -> logits (batch, tokens, words) and weights (batch, queries, keys)
    """

    def __init__(self, words: int = 12, tokens: int = 8, dim: int = 32) -> None:
        super().__init__()
        self.word = nn.Embedding(words, dim)
        self.source_place = nn.Embedding(tokens, dim)
        self.copy_place = nn.Embedding(tokens, dim)
        self.to_query, self.to_key, self.to_value = (nn.Linear(dim, dim) for _ in range(3))
        self.out = nn.Linear(dim, words)

    def forward(self, source: Tensor) -> tuple[Tensor, Tensor]:
        encoded = self.word(source) + self.source_place.weight  # (batch, keys, dim): what the encoder gives
        query = self.to_query(self.copy_place.weight).expand(len(source), -1, -1)  # (batch, queries, dim)
        scores = query @ self.to_key(encoded).mT / encoded.shape[-1] ** 0.5  # (batch, queries, keys)
        weights = scores.softmax(-1)
        return self.out(weights @ self.to_value(encoded)), weights


def copier_and_optimizer(words: int = 12, tokens: int = 8) -> tuple[Copier, torch.optim.Adam]:
    """A new model for the copy task, and what trains it."""
    model = Copier(words, tokens)
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


def train_copier(model: Copier, optimizer: torch.optim.Optimizer, steps: Iterable[int]) -> float:
    """Trains on random words, which are to be copied; a step's number is its seed. -> the loss on other words"""
    for step in steps:
        optimizer.zero_grad()
        _copy_loss(model, step + 1).backward()
        optimizer.step()
    with torch.no_grad():
        return float(_copy_loss(model, 0))


def _copy_loss(model: Copier, seed: int) -> Tensor:
    words, tokens = model.out.out_features, model.copy_place.num_embeddings
    source = torch.randint(words, (64, tokens), generator=torch.Generator().manual_seed(seed))
    return F.cross_entropy(model(source)[0].flatten(0, 1), source.flatten())
