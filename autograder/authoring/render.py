"""The files that ``autograder init`` and ``autograder new`` write, made from the templates beside this module."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).resolve().parent / "templates"


def render(name: str, **values: object) -> str:
    """The text of a template. ``name``: its path within ``templates/``; one without ``.j2`` is taken as it stands."""
    if not name.endswith(".j2"):
        return (TEMPLATES / name).read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
    )
    return environment.get_template(name).render(**values)


def heading(name: str) -> str:
    """A name as a title: ``1_low_pass`` -> ``1 · Low pass``."""
    number, _, rest = name.partition("_")
    words = (rest if number.isdecimal() and rest else name).replace("_", " ").replace("-", " ").strip()
    title = words[:1].upper() + words[1:]
    return f"{number} · {title}" if number.isdecimal() and rest else title
