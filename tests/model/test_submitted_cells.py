"""A submitted file is read in little memory, and reads as the JSON that it is."""

import json
import random
import tracemalloc
from pathlib import Path

import pytest

from autograder.model import submitted_cells as submitted
from autograder.model.submitted_cells import SubmittedCell, UnreadableNotebook, read_submitted, without_large_parts

ROOT = Path(__file__).resolve().parents[2]


def notebook(outputs: list, source: object = "x = 1", **more: object) -> bytes:
    marks = {"nbgrader": {"grade_id": "answer", "note": 'a "quote" \\ and a bracket ['}}
    cell = {"cell_type": "code", "metadata": marks, "source": source, "outputs": outputs, **more}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def peak(data: bytes) -> int:
    """Bytes taken while ``data`` is read, beyond the data themselves."""
    tracemalloc.start()
    try:
        read_submitted(data)
    except UnreadableNotebook:
        pass
    finally:
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return held


@pytest.mark.parametrize("path", sorted(ROOT.glob("source/*/*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_of_the_course_reads_as_plain_json_does(path):
    cells = json.loads(path.read_bytes())["cells"]
    read = read_submitted(path.read_bytes())
    assert [sent.source for sent in read] == ["".join(cell["source"]) for cell in cells]
    assert [sent.grade_id for sent in read] == [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]


@pytest.mark.parametrize("chunk", [2, 3, 7, 64])
def test_strings_and_escapes_are_told_apart_wherever_the_text_is_cut(chunk, monkeypatch):
    monkeypatch.setattr(submitted, "_CHUNK", chunk)
    monkeypatch.setattr(submitted, "_MAX_PART_BYTES", 30)
    draw = random.Random(chunk)
    for _ in range(10):
        text = "".join(draw.choice('ab\\"[]{},\n\u20ac') for _ in range(draw.randrange(40)))
        data = notebook([{"text": text * 3, "data": {"text/plain": [text] * 3}}], [text, text])
        assert read_submitted(data)[0].source == text * 2
        small = json.loads(without_large_parts(data, 5))
        assert small["cells"][0]["outputs"] == [{}]


@pytest.mark.parametrize("text", ["x" * (20 << 20), ["step 12, loss = 0.345\n"] * 500_000], ids=["one text", "lines"])
def test_outputs_of_many_megabytes_cost_a_few_times_their_size_in_memory(text):
    data = notebook([{"output_type": "stream", "name": "stdout", "text": text}])
    assert read_submitted(data) == [SubmittedCell("x = 1", "code", "answer")]
    assert peak(data) < 30 << 20


@pytest.mark.parametrize(
    "data",
    [
        b'{"cells": [' + b"{}," * 1_500_000 + b"{}]}",
        b'{"cells": [{"source": [' + b'"",' * 1_500_000 + b'""]}]}',
        b'{"cells": [{"outputs": [' + b"[]," * 1_500_000 + b"[]]}]}",
        b'{"metadata": {"a": [' + b"1.5," * 1_500_000 + b"1]}}",
        b"[" * (4 << 20),
    ],
    ids=["cells", "lines", "outputs", "metadata", "brackets"],
)
def test_small_values_do_not_unfold_in_memory(data):
    assert peak(data) < 64 << 20  # they would take 100 to 200 MB
    with pytest.raises(UnreadableNotebook):
        read_submitted(data)


def test_a_mark_or_text_that_no_file_can_hold_is_made_writable():
    (sent,) = read_submitted(notebook([], "note = '\ud800'").replace(b'"answer"', b'"answer \\ud800"'))
    assert (sent.source, sent.grade_id) == ("note = '?'", "answer ?")


def test_a_notebook_of_format_3_keeps_its_marks():
    cell = {"cell_type": "code", "input": ["x = 1"], "metadata": {"nbgrader": {"grade_id": "answer"}},
            "outputs": [{"output_type": "stream", "text": ["a line\n"] * 100_000}]}  # fmt: skip
    data = json.dumps({"worksheets": [{"cells": [cell]}], "nbformat": 3}).encode()
    assert read_submitted(data) == [SubmittedCell("x = 1", "code", "answer")]
