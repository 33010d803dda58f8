"""A correction reaches a half-filled notebook, and not a word of the student's is lost."""

import copy
import json
import sys
import types

import pytest

import course
from course.merge import digest, merge, text_of
from course.update import UpdateError

STUB = "def softmax(x):\n    # YOUR CODE HERE\n    raise NotImplementedError"
OTHER = "def heads(x):\n    # YOUR CODE HERE\n    raise NotImplementedError"
MINE = "def softmax(x):\n    return x.exp() / x.exp().sum(-1)  # by me"


def cell(name, text, kind="code", **nbgrader):
    made = {"id": name, "cell_type": kind, "metadata": {}, "source": text}
    if nbgrader:
        made["metadata"] = {
            "nbgrader": {"grade_id": name, "grade": False, "locked": False, "solution": False, **nbgrader}
        }
    return made | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def notebook(*cells):
    return {"cells": list(cells), "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}


def released():
    return notebook(
        cell("title", "# Attention\n[badge](https://colab.research.google.com/github/o/r/blob/main/release/a/1_x.ipynb)",
             "markdown"),
        cell("setup", 'REPOSITORY = "o/r"', locked=True),
        cell("text", "The rows sum to 2.", "markdown"),
        cell("softmax_answer", STUB, solution=True),
        cell("softmax", "check.softmax(softmax)", grade=True, locked=True),
        cell("heads_answer", OTHER, solution=True),
        cell("why", "YOUR ANSWER HERE", "markdown", solution=True, grade=True),
    )  # fmt: skip


def corrected():
    made = copy.deepcopy(released())
    made["cells"][2]["source"] = "The rows sum to 1."
    made["cells"][4]["source"] = "check.softmax(softmax, 3)"
    made["cells"][5]["source"] = OTHER.replace("heads(x)", "heads(x, n)")
    made["cells"].insert(5, cell("hint", "A hint.", "markdown"))
    return made


HISTORY = {
    one["id"]: [digest(one["source"])] for one in released()["cells"]
}  # fmt: skip


def half_filled():
    made = copy.deepcopy(released())
    made["cells"][3]["source"] = MINE.splitlines(keepends=True)  # as Jupyter writes it
    made["cells"][3]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "7"}]
    made["cells"][6]["source"] = "Because of the exponentials."
    made["cells"].insert(4, cell("mine", "x = 1  # try"))
    return made


def texts(made):
    return [text_of(one) for one in made["cells"]]


def test_the_correction_comes_and_the_students_text_stays():
    own = half_filled()
    before = copy.deepcopy(own)
    done = merge(corrected(), own, HISTORY)
    assert own == before
    assert texts(done.notebook) == [
        *texts(corrected())[:2], "The rows sum to 1.", MINE, "x = 1  # try", "check.softmax(softmax, 3)", "A hint.",
        OTHER.replace("heads(x)", "heads(x, n)"), "Because of the exponentials.",
    ]  # fmt: skip
    assert [name for name, _, _ in done.corrected] == ["text", "softmax", "heads_answer"]
    assert done.new == ("hint",) and done.gone == () and done.kept == ()
    assert done.notebook["cells"][3]["outputs"]


def without_ids(own):
    for one in own["cells"]:
        del one["id"]


def without_anything(own):
    for one in own["cells"]:
        del one["id"]
        one["metadata"] = {}


def with_new_ids(own):
    for number, one in enumerate(own["cells"]):
        one["id"] = f"colab{number}"
        one["metadata"] = {"id": f"colab{number}"}


def renamed(own):
    for number, one in enumerate(own["cells"]):
        one["id"] = f"x{number}"
        if "nbgrader" in one["metadata"]:
            one["metadata"]["nbgrader"]["grade_id"] = f"cell-{number}"


@pytest.mark.parametrize("spoil", [without_ids, without_anything, with_new_ids, renamed])
def test_a_notebook_that_lost_its_ids_or_names_gets_the_same(spoil):
    own = half_filled()
    spoil(own)
    done = merge(corrected(), own, HISTORY)
    assert texts(done.notebook) == texts(merge(corrected(), half_filled(), HISTORY).notebook)
    named = {one["metadata"]["nbgrader"]["grade_id"]: text_of(one)
             for one in done.notebook["cells"] if "nbgrader" in one["metadata"]}  # fmt: skip
    assert named["softmax_answer"] == MINE and named["why"] == "Because of the exponentials."
    ids = [one["id"] for one in done.notebook["cells"]]
    assert len(ids) == len(set(ids))


def test_a_second_time_changes_nothing():
    once = merge(corrected(), half_filled(), HISTORY).notebook
    again = merge(corrected(), once, HISTORY)
    assert not again.changes and again.notebook == once


def test_what_the_student_wrote_into_our_text_is_kept_below_ours():
    own = half_filled()
    own["cells"][2]["source"] = "The rows sum to 2. No! To 1, I think."
    own["cells"][5]["source"] += "\nprint(softmax)"
    done = merge(corrected(), own, HISTORY)
    assert "The rows sum to 2. No! To 1, I think." in texts(done.notebook)
    assert "check.softmax(softmax)\nprint(softmax)" in texts(done.notebook)
    assert len(done.kept) == 2
    locked = [one for one in done.notebook["cells"] if "print(softmax)" in text_of(one)]
    assert all("nbgrader" not in one["metadata"] for one in locked)


def test_without_a_history_nothing_is_thrown_away():
    own = half_filled()
    done = merge(corrected(), own, {})
    for text in texts(own):
        assert text in texts(done.notebook)


def test_an_answer_to_an_exercise_that_is_gone_stays():
    fewer = corrected()
    del fewer["cells"][3:5]
    done = merge(fewer, half_filled(), HISTORY)
    assert MINE in texts(done.notebook) and MINE in done.kept
    assert "check.softmax(softmax)" not in texts(done.notebook) and done.gone == ("softmax",)


def test_of_a_doubled_answer_cell_the_written_one_is_the_answer_and_none_is_lost():
    own = half_filled()
    first, second = copy.deepcopy(own["cells"][3]), copy.deepcopy(own["cells"][3])
    first["source"], second["source"] = STUB, MINE.replace("by me", "second try")
    own["cells"][3:4] = [first, copy.deepcopy(own["cells"][3]), second]
    done = merge(corrected(), own, HISTORY)
    (answer,) = [one for one in done.notebook["cells"]
                 if one["metadata"].get("nbgrader", {}).get("grade_id") == "softmax_answer"]  # fmt: skip
    assert text_of(answer) == MINE
    assert MINE.replace("by me", "second try") in texts(done.notebook)


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A published folder with the corrected notebook, and the student's folder, which is where we are."""
    folder, mine = tmp_path / "published", tmp_path / "mine"
    (folder / "release" / "a").mkdir(parents=True)
    mine.mkdir()
    place = "release/a/1_x.ipynb"
    (folder / place).write_text(json.dumps(corrected()))
    (folder / ".published.json").write_text(json.dumps([place, "release/b/1_x.ipynb", "README.md"]))
    (folder / ".published_cells.json").write_text(json.dumps({"texts": {place: HISTORY}}))
    (mine / "1_x.ipynb").write_text(json.dumps(half_filled()))
    monkeypatch.chdir(mine)
    return folder


def test_it_is_shown_before_it_is_written(published, capsys, tmp_path):
    before = (tmp_path / "mine" / "1_x.ipynb").read_bytes()
    course.update(source=str(published))
    said = capsys.readouterr().out
    assert "-The rows sum to 2." in said and "+The rows sum to 1." in said and "write=True" in said
    assert (tmp_path / "mine" / "1_x.ipynb").read_bytes() == before
    course.update("1_x.ipynb", source=str(published), write=True)
    assert texts(json.loads((tmp_path / "mine" / "1_x.ipynb").read_text()))[3] == MINE
    assert (tmp_path / "mine" / "1_x.before-update.ipynb").read_bytes() == before
    course.update("1_x.ipynb", source=str(published), write=True)
    assert "nothing to correct" in capsys.readouterr().out
    assert len(list((tmp_path / "mine").iterdir())) == 2


def test_a_copy_that_the_browser_renamed_is_told_by_its_badge(published, tmp_path):
    (tmp_path / "mine" / "1_x.ipynb").rename(tmp_path / "mine" / "Copy of homework.ipynb")
    course.update(source=str(published), write=True)
    assert "The rows sum to 1." in (tmp_path / "mine" / "Copy of homework.ipynb").read_text()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"notebook": "nowhere.ipynb"}, "is not here"),
        ({"source": "https://example.org/x"}, "neither a folder"),
        ({"source": "."}, "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_changes_nothing(published, tmp_path, words, expected):
    before = (tmp_path / "mine" / "1_x.ipynb").read_bytes()
    with pytest.raises(UpdateError, match=expected):
        course.update(**{"source": str(published), "write": True, **words})
    assert (tmp_path / "mine" / "1_x.ipynb").read_bytes() == before


def test_a_damaged_notebook_is_said(published, tmp_path):
    (tmp_path / "mine" / "1_x.ipynb").write_text("{")
    with pytest.raises(UpdateError, match="cannot be read as a notebook"):
        course.update(source=str(published))


def test_in_colab_the_open_notebook_is_updated_and_handed_over(published, tmp_path, monkeypatch, capsys):
    own = half_filled()
    with_new_ids(own)
    own["metadata"]["colab"] = {"name": "1_x.ipynb"}
    (tmp_path / "mine" / "1_x.ipynb").unlink()
    handed = []
    colab = types.ModuleType("google.colab")
    colab._message = types.SimpleNamespace(blocking_request=lambda name, timeout_sec: {"ipynb": own})
    colab.files = types.SimpleNamespace(download=handed.append)
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    course.update(source=str(published), write=True)
    assert handed == ["1_x.ipynb"]
    assert MINE in texts(json.loads((tmp_path / "mine" / "1_x.ipynb").read_text()))
    assert "Upload notebook" in capsys.readouterr().out
