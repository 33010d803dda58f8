"""Somebody who has never seen the project reads the top of the front page for a minute, and knows four things."""

import re

import pytest

from autograder.site.build import safe_name
from tests.grading import ROOT
from tools import own_site

PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
TOP = PAGE.partition("\n## ")[0]
#: What a reader takes in per minute, at the lower end.
WORDS_IN_A_MINUTE = 200


def words(text: str) -> str:
    return re.sub(r"[*`]", "", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))


def test_it_is_read_in_a_minute_and_has_one_picture() -> None:
    assert len(words(TOP).split()) <= WORDS_IN_A_MINUTE
    assert TOP.count("![") == 1


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what is it?", "A course of 23 notebooks in which students build transformers themselves"),
        ("what else is it?", "A grader for courses of notebooks on any subject"),
        ("for whom, as a student?", "you know Python and matrix products"),
        ("for whom, as an instructor?", "a term, step by step"),
        ("how do I try it?", "make demo: a sample class is graded"),
        ("on which machine?", "on Linux or WSL 2"),
        ("and for another subject?", "autograder init physics makes one"),
    ],
)
def test_a_question_of_a_newcomer_is_answered(question: str, answer: str) -> None:
    assert answer in " ".join(words(TOP).split()), question


def test_the_answers_are_true() -> None:
    assert f"{len(list(ROOT.glob('release/*/*.ipynb')))} notebooks" in TOP
    targets = re.findall(r"(?m)^## make (\w+)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert {"demo", "site"} <= set(targets)
    links = re.findall(r"\]\(((?!https)[^)]+)\)", TOP)
    assert {"docs/roadmap.md", "docs/instructor.md", "docs/writing-exercises.md"} <= set(links)
    assert all((ROOT / link).exists() for link in links)


def test_no_page_lies_in_a_folder_that_servers_hide() -> None:
    held = [page for pages in own_site.shelves().values() for page in pages]
    assert ".github/SECURITY.md" in held
    assert [page for page in held if any(part.startswith(".") for part in safe_name(page).split("/"))] == []


def test_every_guide_is_on_one_shelf_of_the_site() -> None:
    held = [page for pages in own_site.shelves().values() for page in pages]
    guides = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.md"))
    assert sorted(page for page in held if page.startswith("docs/")) == guides
    assert all((ROOT / page).is_file() for page in held)
