"""The texts are plain English: spelled right, in short sentences, without the riddles that were found in them."""

import re
from pathlib import Path

import pytest

from tests.language.prose import (
    given_code,
    guides,
    messages,
    notebooks,
    paragraphs,
    prose,
    sentences,
    what_students_get,
)

spellchecker = pytest.importorskip("spellchecker", reason="pyspellchecker is not installed ('make setup' does)")

HERE = Path(__file__).parent
DICTIONARY = spellchecker.SpellChecker(distance=1)
NOTEBOOKS, GUIDES = notebooks(), guides()
TEXTS = {**NOTEBOOKS, **GUIDES}
CELLS = what_students_get()
CODE = {**given_code(), **messages()}
#: Words of the field, of libraries and of the course; names of people. One a line, in small letters.
OWN_WORDS = {line for line in (HERE / "words.txt").read_text(encoding="utf-8").split("\n") if line}
#: Phrases that readers had to read twice; one regular expression a line.
RIDDLES = [line for line in (HERE / "riddles.txt").read_text(encoding="utf-8").split("\n") if line and line[0] != "#"]
LONGEST_AVERAGE = 15  # words in a sentence
#: A notebook: an evening, and what one reads in it, hints and answers in folds included
MAX_MINUTES, MAX_WORDS = 100, 2000
#: Characters in a line of code: JupyterLab beside its list of files, on a screen of 1366 pixels
MAX_WIDTH = 120


def misspelled(text: str) -> set[str]:
    """Words of letters only, of three and more, that neither the dictionary nor the course's list has."""
    words = {word.lower() for word in re.findall(r"(?<![\w'’.-])[A-Za-z]{3,}(?:['’]\w+)?(?!\w|[.-]\w)", prose(text))}
    words = {re.sub(r"['’]\w+$", "", word) for word in words}
    return set(DICTIONARY.unknown(words - OWN_WORDS))


def riddles(text: str) -> list[str]:
    flat = " ".join(prose(text).split())
    return [riddle for riddle in RIDDLES if re.search(riddle, flat, re.IGNORECASE)]


def average_length(text: str) -> float:
    lengths = [len(sentence.split()) for sentence in sentences(text)]
    return sum(lengths) / max(1, len(lengths))


@pytest.mark.parametrize("name", TEXTS)
def test_every_word_is_in_the_dictionary_or_in_the_courses_list(name: str) -> None:
    assert misspelled(TEXTS[name]) == set()


@pytest.mark.parametrize("name", TEXTS)
def test_no_notebook_and_no_guide_has_a_riddle(name: str) -> None:
    assert riddles(TEXTS[name]) == []


@pytest.mark.parametrize("name", CODE)
def test_no_comment_and_no_message_that_students_read_has_a_riddle(name: str) -> None:
    assert riddles(CODE[name]) == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_sentences_are_short_on_average(name: str) -> None:
    assert average_length(TEXTS[name]) <= LONGEST_AVERAGE


def test_a_misspelled_word_is_found_and_code_is_left_alone() -> None:
    assert misspelled("The atention of `qkv_lin` is $softmxa$.") == {"atention"}


def test_a_riddle_is_found_across_lines() -> None:
    assert riddles("Kinder is\nan error at once.") != []
    assert riddles("Raise a clear error immediately.") == []


def test_long_sentences_are_counted_without_headings_and_listings() -> None:
    text = "# A heading\n\nFour words in here. " + "word " * 40 + "end.\n\n```\n" + "x " * 100 + "\n```"
    assert average_length(text) == (4 + 41) / 2
    assert list(paragraphs("# heading\n\n| a | b |\n\n- item one\n- item two")) == ["- item one", "- item two"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_minutes_add_up(name: str) -> None:
    """The first cell says how many minutes are for exercises: the sum of the tables'; the rest is for reading."""
    total, exercises = re.search(r"about (\d+) minutes, (\d+) of them for the", NOTEBOOKS[name]).groups()  # type: ignore[union-attr]
    tables = [int(n) for n in re.findall(r"(?m)^\|.*?\| (\d+) minutes \|", NOTEBOOKS[name])]
    assert sum(tables) == int(exercises) < int(total)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_no_longer_than_an_evening(name: str) -> None:
    texts = [cell.source for cell in CELLS[name] if cell.cell_type == "markdown"]
    minutes = re.search(r"about (\d+) minutes", texts[0])
    assert minutes and int(minutes[1]) <= MAX_MINUTES
    assert sum(len(paragraph.split()) for text in texts for paragraph in paragraphs(text)) <= MAX_WORDS


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_line_of_code_is_wider_than_the_page(name: str) -> None:
    lines = [(cell.id, line) for cell in CELLS[name] if cell.cell_type == "code" for line in cell.source.split("\n")]
    assert [(cell, line) for cell, line in lines if len(line) > MAX_WIDTH] == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_hints_are_numbered_from_one(name: str) -> None:
    for block in re.findall(r"(?:<details><summary>Hint \d.*?</details>\s*)+", NOTEBOOKS[name], re.DOTALL):
        found = [int(n) for n in re.findall(r"<summary>Hint (\d)", block)]
        assert found == list(range(1, len(found) + 1))


def test_the_road_map_has_the_minutes_of_the_notebooks() -> None:
    for assignment in {name.split("/")[0] for name in NOTEBOOKS}:
        texts = [text for name, text in NOTEBOOKS.items() if name.startswith(f"{assignment}/")]
        minutes = sum(int(re.search(r"about (\d+) minutes", text).group(1)) for text in texts)  # type: ignore[union-attr]
        row = re.search(rf"(?m)^\| {assignment} \| (\d+) \| \d+ \| (\d+) \|", GUIDES["docs/roadmap.md"])
        assert row and (int(row[1]), int(row[2])) == (len(texts), minutes)
