"""Test cells in many styles, about one piece of a student's code, from outside and in one process."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.remote.kernels import Kernels

READ = tomllib.loads((Path(__file__).parent / "styles.toml").read_text(encoding="utf-8"))
STYLES = [style["test"] for style in READ["style"]]
EACH = pytest.mark.parametrize("body", STYLES, ids=lambda body: body.partition("\n")[0][:50])


@EACH
def test_a_style_holds_in_one_process(body: str):
    namespace = {"__name__": "__main__"}
    for cell in (READ["code"], body):
        exec(compile(cell, "<cell>", "exec", dont_inherit=True), namespace)


@EACH
def test_a_style_holds_from_outside(body: str):
    Kernels(READ["code"]).test(body)


def test_there_are_forty_styles():
    assert len(STYLES) >= 40
