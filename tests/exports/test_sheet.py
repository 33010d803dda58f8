"""Cells that no spreadsheet takes for a formula, and tables that others wrote."""

from __future__ import annotations

import csv
import io
import random

import pytest

from autograder.errors import GradingError
from autograder.exports.sheet import neutral, number, original, read_sheet, to_csv, whole_number


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\rx", "\nx", " =1", '"=1"', "'=1", "＝1", "－a", "- point", "\0=1"],
)
def test_what_would_begin_a_formula_gets_an_apostrophe_and_gives_it_back(text):
    assert neutral(text).startswith("'")
    assert original(neutral(text)) == text


@pytest.mark.parametrize(
    ("text", "safe"),
    [("Doe;=1", "Doe;'=1"), ("a,+b", "a,'+b"), ('x; "=1', "x;' \"=1"), ("a\n=1", "a\n'=1"), ("a\t@b", "a\t'@b")],
)
def test_what_stands_after_a_separator_inside_a_cell_is_harmless_too(text, safe):
    assert neutral(text) == safe
    assert original(safe) == text


@pytest.mark.parametrize(
    "text", ["Ada", "O'Brien", "a=b", "Anne-Marie", "x@y.example", "", "-", "-3", "+4.5", "-3,5", "'tis", "50 %"]
)
def test_a_harmless_text_stays_as_it_is(text):
    assert neutral(text) == text == original(text)


def test_any_text_comes_back():
    chance = random.Random(7)
    for _ in range(5000):
        text = "".join(chance.choices("=+-@',;\t\r\n \"a1＝", k=chance.randint(0, 7)))
        assert original(neutral(text)) == text


def test_numbers_are_plain_numbers():
    assert [number(value) for value in (50.0, 2.5, 1 / 3, 0.0, -0.0, 1e-9, -1.25)] == [
        "50", "2.5", "0.333333", "0", "0", "0", "-1.25",
    ]  # fmt: skip
    assert (number(9.999, 2), number(100, 2), number(7, 0)) == ("10", "100", "7")


def test_a_strict_reader_gets_every_text_back():
    texts = ['a "quoted" one', "two\nlines", "comma, semicolon;", "ليلى", "Jörg", "", "\\", "''"]
    read = list(csv.reader(io.StringIO(to_csv([texts, [None, 1.5, "x"]]).decode(), newline=""), strict=True))
    assert read == [texts, ["", "1.5", "x"]]


def test_only_who_wants_a_byte_order_mark_gets_one():
    assert to_csv([["ä"]], bom=True).startswith(b"\xef\xbb\xbf")
    assert to_csv([["ä"]]) == "ä\r\n".encode()


@pytest.mark.parametrize("data", ["\ufeffA,B\r\nä,2\r\n\r\n", "A;B\nä;2\n", 'A,B\n"ä",2'])
def test_a_table_is_read_with_commas_or_semicolons_and_with_or_without_a_mark(tmp_path, data):
    (tmp_path / "given.csv").write_bytes(data.encode())
    sheet = read_sheet(tmp_path / "given.csv")
    assert (sheet.header, sheet.lines) == (("A", "B"), (("ä", "2"),))
    assert (sheet.column("b"), sheet.column("C")) == (1, None)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "expected a CSV file"),
        (b'A,B\n"open', "expected a CSV file"),
        (b"PK\x03\x04\0\0\xff\xfe", "not as a workbook"),
        (b"A,B\n1,2,3", "more cells"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_one_line(tmp_path, data, said):
    if data is not None:
        (tmp_path / "given.csv").write_bytes(data)
    with pytest.raises(GradingError, match=said) as caught:
        read_sheet(tmp_path / "given.csv")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        "A;B\r\nMüller;1\r\n".encode("cp1252"),
        "sep=;\r\nA;B\r\nMüller;1\r\n".encode("cp1252"),
        '"sep=,"\nA,B\nMüller,1\n'.encode("utf-8-sig"),
        "A\tB\r\nMüller\t1\r\n".encode("utf-16"),
        "A;B;\r\nMüller;1;\r\n".encode(),
        "A;B\r\nMüller;1;;\r\n".encode(),
    ],
)
def test_d9_a_table_is_read_as_excel_writes_it(tmp_path, data):
    (tmp_path / "given.csv").write_bytes(data)
    sheet = read_sheet(tmp_path / "given.csv")
    assert (sheet.column("A"), sheet.column("B")) == (0, 1)
    assert [line[:2] for line in sheet.lines] == [("Müller", "1")]


def test_d9_a_number_that_a_spreadsheet_wrote_is_the_number():
    assert {whole_number(text) for text in ("101.0", "101,00", "101")} == {"101"}
    assert [whole_number(text) for text in ("a.0", "1.5", "")] == ["a.0", "1.5", ""]
    for text in ("1.23457E+11", "1,2E+05"):
        with pytest.raises(ValueError, match="was shortened by a spreadsheet"):
            whole_number(text)
