"""Short stories in simple English to train a language model on, written by a small grammar with a seed.

The course writes this text itself: no book, no download, no licence. Each story follows one of four plots, with names,
colours, things and places drawn at random. To predict its last sentence, a reader must remember the first one.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

GIRLS, BOYS = ("anna", "lily", "mia", "rosa"), ("ben", "paul", "sam", "tom")
COLOURS = ("blue", "green", "red", "white", "yellow")
THINGS = ("ball", "boat", "book", "cup", "drum", "kite")
PLACES = ("barn", "garden", "lake", "park", "school", "shop")
#: Begins every story, and so ends the one before.
START = "<story>"

_PLOTS = (
    "there {pronoun} loses the {thing} . {friend} helps {hero} look for it . {friend} finds the {colour} {thing} "
    "near the {place} . now {hero} is happy again .",
    "{friend} is there , too , and likes the {colour} {thing} . {hero} gives the {thing} to {friend} . "
    "now {friend} has a {colour} {thing} .",
    "{friend} is there with a {colour_2} {thing_2} . {hero} wants the {thing_2} , and {friend} wants the {thing} . "
    "so they trade . now {hero} has a {colour_2} {thing_2} , and {friend} has a {colour} {thing} .",
    "there it begins to {weather} . {hero} runs home with the {thing} . in the evening {pronoun} plays with "
    "the {colour} {thing} .",
)
_OPENINGS = (
    "{hero} has a {colour} {thing} . {pronoun} takes the {thing} to the {place} . ",
    "one day {hero} goes to the {place} with a {colour} {thing} . ",
)
_WORDS = {START, "she", "he", "rain", "snow", *GIRLS, *BOYS, *COLOURS, *THINGS, *PLACES} | {
    word for text in (*_PLOTS, *_OPENINGS) for word in text.split() if not word.startswith("{")
}
#: Every word that a story can hold, in alphabetical order after START; a word's id is its place.
VOCABULARY = (START, *sorted(_WORDS - {START}))
_ID = {word: number for number, word in enumerate(VOCABULARY)}


def encode(text: str) -> list[int]:
    """The ids of the words of a text, which are separated by spaces. Raises ValueError for an unknown word."""
    unknown = sorted({word for word in text.split() if word not in _ID})
    if unknown:
        raise ValueError(f"the stories do not know the words {unknown}; they know these: {' '.join(VOCABULARY)}")
    return [_ID[word] for word in text.split()]


def decode(ids: Sequence[int] | Tensor) -> str:
    """The text of some ids."""
    return " ".join(VOCABULARY[int(number)] for number in ids)


def write_story(generator: random.Random) -> str:
    """One story, beginning with START."""
    girl = generator.random() < 0.5
    hero = generator.choice(GIRLS if girl else BOYS)
    friend = generator.choice([name for name in GIRLS + BOYS if name != hero])
    colour, colour_2 = generator.sample(COLOURS, 2)
    thing, thing_2 = generator.sample(THINGS, 2)
    text = generator.choice(_OPENINGS) + generator.choice(_PLOTS)
    return f"{START} " + text.format(
        hero=hero,
        friend=friend,
        pronoun="she" if girl else "he",
        colour=colour,
        colour_2=colour_2,
        thing=thing,
        thing_2=thing_2,
        place=generator.choice(PLACES),
        weather=generator.choice(("rain", "snow")),
    )


@dataclass(frozen=True)
class Stories:
    """Ids of many stories, one after the other: to train on, and to test on. No test story is among the others."""

    train: Tensor
    test: Tensor


def load_stories(train: int = 4000, test: int = 200, seed: int = 0) -> Stories:
    """So many stories of each kind. A story is never repeated."""
    generator, seen = random.Random(seed), set[str]()

    def fresh() -> Iterator[str]:
        while True:
            story = write_story(generator)
            if story not in seen:
                seen.add(story)
                yield story

    written = fresh()
    parts = [" ".join(next(written) for _ in range(count)) for count in (test, train)]
    return Stories(train=torch.tensor(encode(parts[1])), test=torch.tensor(encode(parts[0])))


def windows(ids: Tensor, length: int) -> Tensor:
    """The stream cut into pieces of one length, in order: (pieces, length). What is left over is dropped."""
    return ids[: len(ids) // length * length].view(-1, length)


def random_windows(ids: Tensor, length: int, count: int, generator: torch.Generator) -> Tensor:
    """Pieces that begin anywhere in the stream: (count, length)"""
    starts = torch.randint(len(ids) - length + 1, (count, 1), generator=generator)
    return ids[starts + torch.arange(length)]
