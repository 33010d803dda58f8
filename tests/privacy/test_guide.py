"""``docs/privacy.md``: its commands run, and its map names every place that holds a student's id."""

import re
import shlex

import pytest

from autograder.cli import main
from tests.grading import ROOT
from tests.privacy.conftest import GONE

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")


def test_the_guides_commands_run_in_their_order(term, monkeypatch):
    monkeypatch.chdir(term)
    lines = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
    assert len(lines) > 1
    for line in lines:
        assert main(shlex.split(line.partition("#")[0].replace(" ada", f" {GONE}"))[1:]) == 0, line


def test_the_map_names_every_place_that_holds_an_id(term):
    places = re.findall(r"`([^`]+)`", PAGE.partition("## Removing")[0])
    known = tuple(place.partition("STUDENT")[0].partition("ASSIGNMENT")[0] for place in places)
    endings = tuple(place[1:] for place in places if place.startswith("*."))
    missing = set()
    for path in term.rglob("*"):
        name = str(path.relative_to(term))
        named = path.is_file() and (GONE in name or GONE.encode() in path.read_bytes())
        elsewhere = ("exchange/", "groups.toml", ".nbgrader.log")  # the exchange has a row of its own
        if named and not name.startswith((*filter(None, known), *elsewhere)) and not name.endswith(endings):
            missing.add(name)
    assert missing == set()
