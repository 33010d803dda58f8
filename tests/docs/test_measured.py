"""What the guides say of time, memory and disk is what ``make bench`` printed, and the sums are right."""

import re
from pathlib import Path

import pytest

from tests.grading import ROOT

MEASURED = ROOT / "docs" / "measured.md"
QUOTED = re.compile(r"(?s)<!-- measured -->\n(.*?)<!-- end -->")


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


def table(title: str) -> list[list[str]]:
    """The cells of the table below a heading that begins so, without the table's head."""
    section = next(part for part in MEASURED.read_text(encoding="utf-8").split("\n## ") if part.startswith(title))
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows(section)[2:]]


def said(page: str) -> str:
    return " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("page", ["instructor.md", "scale.md"])
def test_every_row_that_a_guide_quotes_was_printed(page: str) -> None:
    quoted = [row for block in QUOTED.findall((ROOT / "docs" / page).read_text("utf-8")) for row in rows(block)]
    printed = set(rows(MEASURED.read_text(encoding="utf-8")))
    assert len(quoted) > 4 and [row for row in quoted if row not in printed] == []


def test_no_other_page_quotes_what_was_measured() -> None:
    pages = [path.name for path in Path(ROOT / "docs").glob("*.md") if QUOTED.search(path.read_text("utf-8"))]
    assert sorted(pages) == ["instructor.md", "scale.md"]


def test_the_sums_for_a_hundred_thousand_submissions_are_right() -> None:
    (_, read_files, read_bytes), (_, written_files, written_bytes), (_, _, shared_bytes) = table("What one submission")
    text = said("scale.md")
    assert f"{int(read_files) * 100_000:,} files to read" in text
    assert f"{int(written_files) * 100_000:,} to write" in text
    assert f"{int(read_bytes) * 1e5 / 1e9:.1f} GB to read" in text
    assert f"{int(written_bytes) * 1e5 / 1e9:.0f} GB to write" in text
    assert f"{int(shared_bytes) * 1e5 / 1e9:.1f} GB of gradebook and journal" in text


def test_what_the_writing_process_can_bear_is_worked_out_from_its_time() -> None:
    milliseconds = float(table("The writing process alone")[-1][1])
    assert f"{milliseconds * 100_000 / 3_600_000:.1f} hours of its processor for 100,000 tiny submissions" in said(
        "scale.md"
    )
