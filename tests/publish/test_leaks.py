"""What must not reach students is found by its content, in whatever file and form; what they may see is not."""

from __future__ import annotations

import base64
import html
import json
import zipfile
from dataclasses import replace

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from safetensors.numpy import save

from autograder.assignment.assignment import Assignment
from autograder.references.store import References
from autograder.references.stored_files import write_archives
from autograder.release.leaks import search, tensors


def leaks(folder, assignments):
    return [str(found) for found in search.leaks(folder, assignments)]


def release_leaks(folder, assignment):
    return [str(found) for found in search.release_leaks(folder, assignment)]


SOLUTION = """\
class Attention:
    def forward(self, q, k, v):
        # scores, weights, and the mixture of the values
        ### BEGIN SOLUTION
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (batch, queries, keys)
        weights = scores.softmax(dim=-1)
        return weights @ v
        ### END SOLUTION
"""
GRADED = """\
check.attention(Attention)
### BEGIN HIDDEN TESTS
from autograder import reference
for case in reference("sheet/attention"):
    case.compare(output=Attention().forward(case.q, case.k, case.v))
### END HIDDEN TESTS
"""
ANSWER = "Without the scale the softmax saturates. Its gradient then all but vanishes, and nothing is learned any more."
RUBRIC = """\
Why?
=== BEGIN MARK SCHEME ===
* two points for saturation of the softmax, one for the gradient
=== END MARK SCHEME ===
"""
EXPECTED = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)


def _cell(source, grade_id, markdown=False, **marks):
    make = new_markdown_cell if markdown else new_code_cell
    nbgrader = {"grade": False, "solution": False, "locked": False, "grade_id": grade_id, "schema_version": 3, **marks}
    return make(source, metadata={"nbgrader": nbgrader})


@pytest.fixture
def sheet(tmp_path, monkeypatch):
    references = tmp_path / "exercises"
    (references / "sheet").mkdir(parents=True)
    write_archives(references / "sheet", {"attention": {"expected.safetensors": save({"0/output": EXPECTED})}})
    head = b"class Head:\n    '''One head.'''\n    def width(self, config):\n"
    solution = head + b"        return config.dim // config.heads\n"
    notebook = new_notebook(cells=[
        new_markdown_cell("# Attention\n\nEvery query looks at every key: `demonstration = torch.zeros(2, 3, 4)`."),
        _cell(SOLUTION, "attention_answer", solution=True),
        _cell(GRADED, "attention", grade=True, locked=True, points=3),
        _cell(ANSWER, "why", markdown=True, grade=True, solution=True, points=2),
        _cell(RUBRIC, "task", markdown=True, locked=True, task=True, points=2),
    ])  # fmt: skip
    files = {"models.py": head + b"        # YOUR CODE HERE\n"}
    return Assignment("sheet", {"1_attention": notebook}, {}, files, frozenset({"models.py"}), References(references),
                      solutions={"models.py": solution})  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "release"
    made.mkdir()
    return made


def _released(text):
    return nbformat.writes(new_notebook(cells=[new_code_cell(text)]))


def test_a_folder_without_secrets_is_clean(sheet, folder):
    (folder / "1_attention.ipynb").write_text(_released("# YOUR CODE HERE\nraise NotImplementedError()"))
    (folder / "models.py").write_bytes(sheet.files["models.py"])
    (folder / "README.md").write_text("Every query looks at every key. demonstration = torch.zeros(2, 3, 4)")
    (folder / "imports.py").write_text("import torch\nfrom autograder import reference\n")
    assert leaks(folder, sheet) == []


@pytest.mark.parametrize(
    "text",
    [
        "weights = scores.softmax(dim=-1)",
        "    weights=scores.softmax( dim = -1 )",
        "scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5",
        "> scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (batch, queries, keys)",
        "weights = scores.softmax(dim=-1)  # another comment\nreturn weights @ v",
        "case.compare(output=Attention().forward(case.q, case.k, case.v))",
        'for case in reference("sheet/attention"):',
        "Its gradient then all but vanishes, and nothing is learned any more.",
        "two points for saturation of the softmax, one for the gradient",
        "return config.dim // config.heads",
    ],
)
@pytest.mark.parametrize("name", ["notes.md", "1_attention.ipynb", "course/part.py"])
def test_a_line_of_a_secret_is_found(sheet, folder, name, text):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(_released(text) if name.endswith(".ipynb") else text)
    found = leaks(folder, sheet)
    assert found and all(line.startswith(name) for line in found), found


def test_a_finding_names_the_file_the_exercise_and_the_line(sheet, folder):
    (folder / "notes.txt").write_text("weights = scores.softmax(dim=-1)")
    assert leaks(folder, sheet) == [
        "notes.txt: solution sheet/1_attention/attention_answer: 'weights = scores.softmax(dim=-1)'"
    ]


def test_a_solution_in_an_output_or_a_rendered_page_is_found(sheet, folder):
    output = nbformat.v4.new_output("stream", text="weights = scores.softmax(dim=-1)\n")
    notebook = new_notebook(cells=[new_code_cell("help(x)", outputs=[output])])
    (folder / "a.ipynb").write_text(nbformat.writes(notebook))
    (folder / "b.html").write_text("<pre><b>weights</b> <b>=</b> scores.<i>softmax</i>(dim<b>=-</b>1)</pre>")
    assert {line.partition(":")[0].partition(",")[0] for line in leaks(folder, sheet)} == {"a.ipynb", "b.html"}


def test_a_solution_inside_a_wheel_is_found(sheet, folder):
    with zipfile.ZipFile(folder / "course.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("course/part.py", "weights = scores.softmax(dim=-1)")
    assert leaks(folder, sheet)[0].startswith("course.whl!course/part.py: solution")


def test_an_archive_that_cannot_be_searched_is_reported(sheet, folder):
    (folder / "broken.zip").write_bytes(b"PK\x03\x04" + b"x" * 100)
    assert "cannot be searched" in leaks(folder, sheet)[0]


def test_a_marker_that_was_left_behind_is_found(sheet, folder):
    (folder / "a.ipynb").write_text(_released("### BEGIN SOLUTION\nx = 1\n### END SOLUTION"))
    assert [found.partition(": ")[2] for found in leaks(folder, sheet)] == [
        "the marker '### BEGIN SOLUTION'", "the marker '### END SOLUTION'"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "### BEGIN HIDEN TESTS", "### END SOLUTON", "# begin solution", "###BEGINSOLUTION", "# BEGIN_SOLUTION",
        "// END HIDDEN TEST", "<!-- END MARK SHEME -->", "x = 1  ### BEGN SOLUTION", "### BGEIN HIDDEN TESTS",
        "BEGIN HIDDEN TESTS", "# BEGIN ANSWER", "=== BEGIN MARK SCHEME ===", "% BEGIN SOLUTION", "-- BEGIN SOLUTION",
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["code", "markdown", "metadata", "output"])
def test_a_line_that_looks_like_a_marker_is_found_in_any_spelling_and_anywhere(sheet, folder, line, place):
    make = new_markdown_cell if place == "markdown" else new_code_cell
    cell = make(f"text\n{line}\nmore" if place in ("code", "markdown") else "text")
    if place == "metadata":
        cell.metadata["note"] = line
    if place == "output":
        cell.outputs = [nbformat.v4.new_output("stream", text=f"text\n{line}\n")]
    (folder / "a.ipynb").write_text(nbformat.writes(new_notebook(cells=[cell])))
    (found,) = leaks(folder, sheet)
    assert found.startswith("a.ipynb, cell ") and ": the marker " in found and line[-8:] in found


@pytest.mark.parametrize(
    "line",
    [
        "# Solution",
        "## Hidden tests",
        "# begin",
        "The solution begins here.",
        "BEGIN TRANSACTION;",
        "# The end",
        "### BEGIN TESTS",
        "### END TEST",
        "# BEGIN IMPORTS",
    ],
)
def test_words_that_only_resemble_a_marker_are_none(sheet, folder, line):
    (folder / "a.ipynb").write_text(_released(f"text\n{line}\nmore"))
    assert leaks(folder, sheet) == []


@pytest.mark.parametrize(
    "line",
    [
        "from autograder import reference", "import autograder", "from autograder.testing import reference as r",
        "for case in reference('sheet/other'):", 'next(reference( "sheet/other" ))',
    ],
)  # fmt: skip
def test_what_only_hidden_tests_say_is_found_in_a_notebook(sheet, folder, line):
    (folder / "a.ipynb").write_text(_released(f"check.attention(Attention)\n{line}"))
    assert any(": hidden tests say" in found for found in leaks(folder, sheet))


def test_prose_about_references_is_no_leak(sheet, folder):
    (folder / "a.ipynb").write_text(_released("# see the reference(s) at the end, and what an autograder is"))
    assert leaks(folder, sheet) == []


def test_a_solution_pasted_whole_into_visible_text_is_found(sheet, folder):
    pasted = SOLUTION.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", "")
    notebook = sheet.source["1_attention"]
    with_it = new_notebook(cells=[*notebook.cells, new_markdown_cell(f"```python\n{pasted}\n```")])
    changed = replace(sheet, source={"1_attention": with_it})
    (found,) = release_leaks(folder, changed)
    assert found.startswith(
        f"sheet/1_attention.ipynb, cell '{with_it.cells[-1].id}': most of solution sheet/1_attention/attention_answer"
    )


SHORT = '''\
def middle(values):
    """The value in the middle of all values: (n,) -> a number."""
    ### BEGIN SOLUTION
    return np.median(values)
    ### END SOLUTION
'''


def _with_short_solution(sheet):
    cell = _cell(SHORT, "middle_answer", solution=True)
    return replace(sheet, source={"1_attention": new_notebook(cells=[*sheet.source["1_attention"].cells, cell])})


def test_the_lines_above_a_very_short_solution_are_no_leak(sheet, folder):
    assert release_leaks(folder, _with_short_solution(sheet)) == []


def test_a_very_short_solution_is_found_below_the_lines_above_it(sheet, folder):
    (folder / "middle.py").write_text("\n".join(line for line in SHORT.split("\n") if "###" not in line))
    (found,) = release_leaks(folder, _with_short_solution(sheet))
    assert "solution sheet/1_attention/middle_answer" in found and "return np.median(values)" in found


def test_a_model_answer_repeated_in_a_hint_is_found(sheet, folder):
    with_it = new_notebook(cells=[*sheet.source["1_attention"].cells, new_markdown_cell(f"Hint: {ANSWER}")])
    found = release_leaks(folder, replace(sheet, source={"1_attention": with_it}))
    assert any("model answer" in line for line in found)


def test_one_line_that_a_solution_has_in_common_with_the_text_is_no_leak(sheet, folder):
    hint = new_markdown_cell("A softmax over the keys: `weights = scores.softmax(dim=-1)`.")
    with_it = new_notebook(cells=[*sheet.source["1_attention"].cells, hint])
    assert release_leaks(folder, replace(sheet, source={"1_attention": with_it})) == []


@pytest.mark.parametrize("place", ["attachment", "data uri", "output"])
def test_a_solution_inside_a_file_inside_a_notebook_is_found(sheet, folder, place):
    drawing = base64.b64encode(f"<svg><text>{SOLUTION}</text></svg>".encode()).decode()
    if place == "attachment":
        cell = new_markdown_cell("![](a.svg)", attachments={"a.svg": {"image/svg+xml": drawing}})
    elif place == "data uri":
        cell = new_markdown_cell(f"![](data:image/svg+xml;base64,{drawing})")
    else:
        cell = new_code_cell("1", outputs=[nbformat.v4.new_output("display_data", data={"image/svg+xml": drawing})])
    (folder / "a.ipynb").write_text(nbformat.writes(new_notebook(cells=[cell])))
    assert any("solution sheet/1_attention/attention_answer" in line for line in leaks(folder, sheet))


@pytest.mark.parametrize("kind", ["tEXt", "zTXt", "iTXt", "packed iTXt"])
def test_what_a_picture_says_of_itself_is_read(sheet, folder, kind):
    about = PngInfo()
    if kind.endswith("iTXt"):
        about.add_itxt("Comment", SOLUTION, "en", "Kommentar", zip=kind.startswith("packed"))
    else:
        about.add_text("Comment", SOLUTION, zip=kind == "zTXt")
    Image.new("RGB", (40, 40), "white").save(folder / "a.png", pnginfo=about)
    assert any(line.startswith("a.png: ") and "attention_answer" in line for line in leaks(folder, sheet))


def test_a_picture_cut_off_or_packed_without_end_stops_no_search(sheet, folder):
    about = PngInfo()
    about.add_text("Comment", "\0" * (1 << 25), zip=True)
    Image.new("RGB", (40, 40), "white").save(folder / "a.png", pnginfo=about)
    (folder / "b.png").write_bytes((folder / "a.png").read_bytes()[:70])
    assert leaks(folder, sheet) == []


def test_a_line_in_a_file_that_is_no_text_is_found(sheet, folder):
    (folder / "a.gif").write_bytes(b"GIF89a\0\1\2\xff" + SOLUTION.encode() + b"\0\xfe")
    assert any("attention_answer" in line for line in leaks(folder, sheet))


@pytest.mark.parametrize(
    "row",
    ["<td>{}</td>", "<td><b>{}</b></td>", "<tspan x='1'>{}</tspan>", "<span class='o'>-</span><span>{}</span>,"],
)
def test_expected_numbers_are_found_in_the_cells_of_a_table_and_between_marks(sheet, folder, row):
    numbers = [f"{number:.4f}".lstrip("-" if row.startswith("<span") else "") for number in EXPECTED[1]]
    signed = [row if value < 0 else row.replace("-", "") for value in EXPECTED[1]]
    (folder / "a.html").write_text("".join(one.format(text) for one, text in zip(signed, numbers, strict=True)))
    assert leaks(folder, sheet) == ["a.html: numbers of the expected tensor sheet/attention/0/output"]


@pytest.mark.parametrize(
    "tag",
    ["<img src='a.png' alt='{}'>", '<a title="{}">a</a>', '<meta content="{}">', "<p data-note='{}'>", "<!-- {} -->"],
)
def test_what_an_attribute_of_a_page_says_is_read(sheet, folder, tag):
    (folder / "a.html").write_text(tag.format(html.escape(SOLUTION)))
    assert any("attention_answer" in line for line in leaks(folder, sheet))


def test_a_notebook_saved_as_text_among_the_instructors_files_is_found_when_it_is_released(sheet, folder):
    (folder / "1_attention.py").write_text(SOLUTION)
    beside = {**sheet.files, "1_attention.py": SOLUTION.encode()}
    assert any("attention_answer" in line for line in leaks(folder, replace(sheet, files=beside)))


@pytest.mark.parametrize("kind", ["<f4", "<f8", "<f2"])
def test_the_bytes_of_an_expected_tensor_are_found_at_any_offset(sheet, folder, kind):
    (folder / "data.bin").write_bytes(b"\0\1\2\3\4" + EXPECTED.astype(kind).tobytes() + b"\0")
    assert leaks(folder, sheet) == ["data.bin: the bytes of the expected tensor sheet/attention/0/output"]


@pytest.mark.parametrize(
    "text",
    [
        str([round(float(number), 4) for number in EXPECTED[1]]),
        repr(EXPECTED),
        json.dumps(EXPECTED.tolist()),
        "\n".join(f"{number:.4f}" for number in EXPECTED[0]),
        " ".join(f"{number:.6e}" for number in EXPECTED[2]),
        str(np.round(EXPECTED, 3)),
        " ".join(f"{number:.3f}" for number in EXPECTED[0]),
        ", ".join(f"{number:+.2f}" for number in EXPECTED.flat),
    ],
)
@pytest.mark.parametrize("name", ["values.txt", "values.json"])
def test_expected_numbers_are_found_however_they_are_rounded(sheet, folder, name, text):
    (folder / name).write_text(text)
    assert leaks(folder, sheet) == [f"{name}: numbers of the expected tensor sheet/attention/0/output"]


def test_small_numbers_of_one_digit_say_nothing():
    assert [*tensors._groups(np.array([0.0001, 0.0002, 0.0003]))] == []
    assert [*tensors._groups(np.array([0.0101, 0.0002, 0.0003]))] == [(101, 2, 3)]


def test_other_numbers_and_other_bytes_are_no_leak(sheet, folder):
    other = np.random.default_rng(1).normal(size=(500, 5)).astype(np.float32)
    (folder / "weights.bin").write_bytes(b"\0" * 64 + other.tobytes())
    (folder / "values.txt").write_text(np.array2string(other, threshold=10_000))
    (folder / "rounded.txt").write_text(np.array2string(other, threshold=10_000, precision=2))
    (folder / "huge.txt").write_text("1.2345e999 -1.2345e999 1.0000e308")
    assert leaks(folder, sheet) == []


def test_round_numbers_that_anybody_could_print_are_no_leak(sheet, folder, tmp_path):
    round_ones = np.linspace(0, 70, 15).reshape(3, 5)
    stored = {"expected.safetensors": save({"0/output": round_ones})}
    write_archives(tmp_path / "exercises" / "sheet", {"attention": stored})
    (folder / "values.txt").write_text(" ".join(f"{number:.2f}" for number in round_ones.flat))
    assert leaks(folder, sheet) == []


def test_what_the_instructor_shows_in_a_visible_cell_is_no_leak(sheet, folder):
    sheet.source["1_attention"].cells.append(new_markdown_cell("Hint: `weights = scores.softmax(dim=-1)`"))
    (folder / "hint.md").write_text("weights = scores.softmax(dim=-1)")
    assert leaks(folder, sheet) == []


def test_several_assignments_are_searched_for_at_once(sheet, folder):
    other = Assignment("other", {"n": new_notebook(cells=[
        _cell("### BEGIN SOLUTION\nmask = tokens.eq(padding_id).logical_not()\n### END SOLUTION", "mask", solution=True)
    ])}, {}, {}, frozenset(), sheet.references)  # fmt: skip
    (folder / "a.py").write_text("mask = tokens.eq(padding_id).logical_not()\nweights = scores.softmax(dim=-1)\n")
    assert len(leaks(folder, [sheet, other])) == 2
