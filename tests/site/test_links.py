"""Links of the repository's Markdown, as they lead from a page of the site."""

from pathlib import Path

import pytest

from autograder.site.build import Links, named

PAGES = {"README.md": "index.md", "docs/a.md": "docs/a.md", "release/x/1.ipynb": "release/x/1.ipynb",
         "docs/p.png": "docs/p.png", "docs/ä b.png": "docs/_e4__20_b.png"}  # fmt: skip


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
        ("README.md", "![a](docs/%C3%A4%20b.png)\n\n[a]: docs/p.png", "![a](docs/_e4__20_b.png)\n\n[a]: docs/p.png"),
        ("docs/a.md", "[a]: ../code/m.py 'a title'", "[a]: https://forge/o/n/blob/main/code/m.py 'a title'"),
        ("docs/a.md", "[^a]: p.png", None),
        ("README.md", '<img src="https://x.org/a.png" alt="A map">', '<a href="https://x.org/a.png">A map</a>'),
        ("docs/a.md", '<iframe width="9" src="//x.org/v"></iframe>', '<a href="//x.org/v">//x.org/v</a></iframe>'),
        ("docs/a.md", '<script src="https://x.org/a.js"></script>a <script>b</script>', "a "),
        ("docs/a.md", "`<script>`", None),
        ("README.md", "[a](docs/a.md#A-Part-·-(5-points))", "[a](docs/a.md#a-part--5-points)"),
        ("release/x/1.ipynb", "[here](#Second-title)", "[here](#second-title)"),
        ("release/x/1.ipynb", "[named](#Named-Part)", None),
        ("docs/a.md", "[a](../code%20x/m.py)", "[a](https://forge/o/n/blob/main/code%20x/m.py)"),
        ("README.md", '<a href="code/m.py">m</a>', '<a href="https://forge/o/n/blob/main/code/m.py">m</a>'),
    ],
)
def test_a_link_leads_into_the_site_or_to_the_forge(tmp_path: Path, file: str, text: str, becomes: str | None) -> None:
    (tmp_path / "code").mkdir()
    links = Links(tmp_path, PAGES, "https://forge/o/n", named('<a id="Named-Part"></a>'))
    assert links.rewritten(text, file) == (text if becomes is None else becomes)
