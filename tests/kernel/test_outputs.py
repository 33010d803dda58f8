"""What a notebook shows is bounded as it is written, for a cell and for all of them."""

import copy

import nbformat
import pytest

from autograder.kernel.outputs import Allowance, Outputs, problem

MAX_BYTES = 1 << 16


def written(nodes: list) -> int:
    cell = nbformat.v4.new_code_cell(outputs=nodes)
    return len(nbformat.writes(nbformat.v4.new_notebook(cells=[cell])).encode())


def stream(text: str) -> tuple[str, dict]:
    return "stream", {"name": "stdout", "text": text}


def shown(text: str) -> tuple[str, dict]:
    return "display_data", {"data": {"text/plain": text}, "metadata": {}}


def raised(text: str) -> tuple[str, dict]:
    return "error", {"ename": text, "evalue": text, "traceback": [text] * 200}


@pytest.mark.parametrize("character", ["x", "\x01", "\n", "\x85", "\u2028", "\U0001f600", "\\", "\ud800"], ids=ascii)
@pytest.mark.parametrize("made", [stream, shown, raised])
def test_outputs_of_a_cell_are_bounded_as_they_are_written(made, character):
    outputs = Outputs(MAX_BYTES)
    for _ in range(40):
        outputs.add(*made(character * 2000))
    assert written(outputs.finish()) < 1.3 * MAX_BYTES


def test_a_short_output_is_shown_whole():
    outputs = Outputs(MAX_BYTES)
    outputs.add(*stream("one\ntwo\x01\n"))
    assert outputs.finish()[0]["text"] == "one\ntwo\x01\n"


@pytest.mark.parametrize("later", [stream("step\n"), shown("late"), raised("late"), ("clear_output", {})])
def test_what_comes_after_the_end_changes_nothing(later):
    allowance = Allowance(3 * MAX_BYTES)
    outputs = Outputs(MAX_BYTES, allowance)
    outputs.add(*stream("one\n"))
    nodes, left = copy.deepcopy(outputs.finish()), allowance.left
    for _ in range(2):
        outputs.add(*later)
        assert outputs.finish() == nodes
    assert allowance.left == left


def test_of_a_pictures_metadata_its_words_are_kept_and_nothing_else():
    outputs = Outputs(MAX_BYTES)
    data = {"image/png": "iVBO", "text/plain": "<Figure>"}
    outputs.add(
        "display_data",
        {"data": data, "metadata": {"image/png": {"alt": "A line.", "x": 1}, "text/plain": {"alt": "y"}}},
    )
    for wrong in (None, [], {"image/png": "A line."}, {"image/png": {"alt": 7}}, {"image/jpeg": {"alt": "A line."}}):
        outputs.add("display_data", {"data": data, "metadata": wrong})
    assert [dict(node["metadata"]) for node in outputs.finish()] == [{"image/png": {"alt": "A line."}}, *[{}] * 5]


def test_a_pictures_words_are_bounded_with_the_rest():
    outputs = Outputs(MAX_BYTES)
    for _ in range(200):
        told = {"image/png": {"alt": "\x01" * MAX_BYTES}}
        outputs.add("display_data", {"data": {"image/png": "iVBO"}, "metadata": told})
    assert written(nodes := outputs.finish()) < 1.3 * MAX_BYTES
    assert max(len(node["metadata"]["image/png"]["alt"]) for node in nodes if node.get("metadata")) == 1000


def test_an_update_replaces_a_pictures_words():
    outputs = Outputs(MAX_BYTES)
    for kind, words in (("display_data", "before"), ("update_display_data", "after")):
        told = {
            "data": {"image/png": "iVBO"},
            "metadata": {"image/png": {"alt": words}},
            "transient": {"display_id": "a"},
        }
        outputs.add(kind, told)
    assert [node["metadata"]["image/png"]["alt"] for node in outputs.finish()] == ["after"]


def test_all_cells_together_show_no_more_than_the_notebook_may():
    allowance = Allowance(3 * MAX_BYTES)
    cells = []
    for _ in range(80):
        outputs = Outputs(MAX_BYTES, allowance)
        outputs.add(*stream("\x01" * MAX_BYTES))
        cells.append(outputs.finish())
    assert sum(map(written, cells)) < 3.3 * MAX_BYTES + 80 * 1000
    assert "the notebook has shown all that it may" in cells[-1][-1]["text"]


def test_what_was_cleared_does_not_count():
    allowance = Allowance(2 * MAX_BYTES)
    outputs = Outputs(MAX_BYTES, allowance)
    for _ in range(50):
        outputs.add("clear_output", {})
        outputs.add(*stream("x" * 50_000))
    assert outputs.finish()[0]["text"] == "x" * 50_000
    assert allowance.left > MAX_BYTES


def test_an_error_in_showing_a_value_is_named() -> None:
    reply = {"ename": "NoneType", "evalue": "None", "traceback": ["...", "\x1b[31mValueError\x1b[39m: too many digits"]}
    assert problem(reply)[:2] == ("ValueError", "too many digits")
