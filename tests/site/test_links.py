"""Links of the repository's Markdown, as they lead from a page of the site."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.site.links import Links

PAGES = {"README.md": "index.md", "docs/a.md": "docs/a.md", "release/x/1.ipynb": "release/x/1.ipynb"}


@pytest.mark.parametrize(
    ("file", "text", "becomes"),
    [
        ("README.md", "[a](docs/a.md#part)", "[a](docs/a.md#part)"),
        ("docs/a.md", "[home](../README.md)", "[home](../index.md)"),
        ("docs/a.md", "[one](../release/x/1.ipynb)", "[one](../release/x/1.ipynb)"),
        ("docs/a.md", "[code](../code/m.py#L3)", "[code](https://forge/o/n/blob/main/code/m.py#L3)"),
        ("docs/a.md", "[folder](../code)", "[folder](https://forge/o/n/tree/main/code)"),
        ("docs/a.md", "[part](#part), [far](https://example.org/a.md), [mail](mailto:a@b.c)", None),
        ("docs/a.md", "`[a](b.py)`\n\n```sh\n[a](b.py)\n```\n\n[b](p.png)", None),
        ("README.md", "[![Open](https://x.org/badge.svg)](https://x.org/go)", "[Open](https://x.org/go)"),
        ("README.md", "![A badge](https://x.org/badge.svg)", "A badge"),
        ("README.md", '<a href="code/m.py">m</a>', '<a href="https://forge/o/n/blob/main/code/m.py">m</a>'),
    ],
)
def test_a_link_leads_into_the_site_or_to_the_forge(tmp_path: Path, file: str, text: str, becomes: str | None) -> None:
    (tmp_path / "code").mkdir()
    links = Links(tmp_path, PAGES, {"docs/p.png"}, "https://forge/o/n")
    assert links.rewritten(text, file) == (text if becomes is None else becomes)
