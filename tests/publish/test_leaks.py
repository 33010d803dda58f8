"""What must not reach students is found by its content, in whatever file and form; what they may see is not."""

import base64
import html
import io
import json
import zipfile
from dataclasses import replace

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from safetensors.numpy import save

from autograder.assignment.assignment import Assignment
from autograder.references.store import References
from autograder.references.write import write_archives
from autograder.release.leaks import search, secrets
from tests.feedback.toy import marks


def leaks(folder, *assignments):
    return [str(found) for found in search.found_in(folder, map(search.Hidden.of, assignments))]


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


def _cell(source, grade_id, markdown=False, **about):
    return (new_markdown_cell if markdown else new_code_cell)(source, metadata=marks(grade_id, **about))


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
    path.write_bytes(_notebook(new_code_cell(text)) if name.endswith(".ipynb") else text.encode())
    found = leaks(folder, sheet)
    assert found and all(line.startswith(name) for line in found), found


LINE = "weights = scores.softmax(dim=-1)"
DRAWING = base64.b64encode(f"<svg><text>{SOLUTION}</text></svg>".encode()).decode()
SVG = {"image/svg+xml": DRAWING}


def _notebook(*cells):
    return nbformat.writes(new_notebook(cells=list(cells))).encode()


def _zip(name, text):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return held.getvalue()


def _png(kind, text=SOLUTION):
    """A picture that says something of itself."""
    about, held = PngInfo(), io.BytesIO()
    if kind.endswith("iTXt"):
        about.add_itxt("Comment", text, "en", "Kommentar", zip=kind.startswith("packed"))
    else:
        about.add_text("Comment", text, zip=kind == "zTXt")
    Image.new("RGB", (40, 40), "white").save(held, "png", pnginfo=about)
    return held.getvalue()


#: A file that holds the solution of ``attention_answer``, and the beginning of what is said of it.
PLACES = [
    ("a.ipynb", _notebook(new_code_cell("help(x)", outputs=[new_output("stream", text=f"{LINE}\n")])), "a.ipynb, cell"),
    ("b.html", b"<pre><b>weights</b> <b>=</b> scores.<i>softmax</i>(dim<b>=-</b>1)</pre>", "b.html: "),
    ("course.whl", _zip("course/part.py", LINE), "course.whl!course/part.py: solution"),
    ("a.ipynb", _notebook(new_markdown_cell("![](a.svg)", attachments={"a.svg": SVG})), "a.ipynb"),
    ("a.ipynb", _notebook(new_markdown_cell(f"![](data:image/svg+xml;base64,{DRAWING})")), "a.ipynb"),
    ("a.ipynb", _notebook(new_code_cell("1", outputs=[new_output("display_data", SVG)])), "a.ipynb"),
    *(("a.png", _png(kind), "a.png: ") for kind in ("tEXt", "zTXt", "iTXt", "packed iTXt")),
    ("a.gif", b"GIF89a\0\1\2\xff" + SOLUTION.encode() + b"\0\xfe", "a.gif"),
    *(
        ("a.html", tag.format(html.escape(SOLUTION)).encode(), "a.html")
        for tag in ("<img src='a.png' alt='{}'>", '<a title="{}">a</a>', '<meta content="{}">', "<p data-note='{}'>",
                    "<!-- {} -->")
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "begins"), PLACES, ids=map(str, range(len(PLACES))))
def test_a_solution_is_found_wherever_it_stands(sheet, folder, name, data, begins):
    (folder / name).write_bytes(data)
    assert any(
        line.startswith(begins) and "sheet/1_attention/attention_answer" in line for line in leaks(folder, sheet)
    )


#: What only hidden tests say; a marker that was left; an archive that cannot be searched -> what is said.
OTHERS = [
    ("a.ipynb", _notebook(new_code_cell(f"check.attention(Attention)\n{line}")), ": hidden tests say")
    for line in ("from autograder import reference", "import autograder",
                 "from autograder.testing import reference as r", "for case in reference('sheet/other'):",
                 'next(reference( "sheet/other" ))')
] + [
    ("a.ipynb", _notebook(new_code_cell("### BEGIN SOLUTION\nx = 1")), ": the marker '### BEGIN SOLUTION'"),
    ("a.ipynb", _notebook(new_code_cell("x = 1\n### END SOLUTION")), ": the marker '### END SOLUTION'"),
    ("broken.zip", b"PK\x03\x04" + b"x" * 100, "cannot be searched"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "said"), OTHERS, ids=map(str, range(len(OTHERS))))
def test_what_else_must_not_be_there_is_found(sheet, folder, name, data, said):
    (folder / name).write_bytes(data)
    (found,) = leaks(folder, sheet)
    assert found.startswith(name) and said in found


WEIGHTS = np.random.default_rng(1).normal(size=(500, 5)).astype(np.float32)
HARMLESS = {
    "1_attention.ipynb": _notebook(new_code_cell("# YOUR CODE HERE\nraise NotImplementedError()")),
    "README.md": b"Every query looks at every key. demonstration = torch.zeros(2, 3, 4)",
    "imports.py": b"import torch\nfrom autograder import reference\n",
    "words.ipynb": _notebook(*(new_code_cell(f"text\n{line}\nmore") for line in (
        "# Solution", "## Hidden tests", "# begin", "The solution begins here.", "BEGIN TRANSACTION;", "# The end",
        "### BEGIN TESTS", "### END TEST", "# BEGIN IMPORTS", "# see the reference(s), and what an autograder is",
    ))),
    "packed.png": _png("zTXt", "\0" * (1 << 25)),
    "cut off.png": _png("zTXt", "\0" * (1 << 25))[:70],
    "weights.bin": b"\0" * 64 + WEIGHTS.tobytes(),
    "values.txt": np.array2string(WEIGHTS, threshold=10_000).encode(),
    "rounded.txt": np.array2string(WEIGHTS, threshold=10_000, precision=2).encode(),
    "huge.txt": b"1.2345e999 -1.2345e999 1.0000e308",
}  # fmt: skip


@pytest.mark.parametrize("name", [*HARMLESS, "models.py"])
def test_a_file_without_secrets_is_clean(sheet, folder, name):
    (folder / name).write_bytes(HARMLESS.get(name) or sheet.files[name])
    assert leaks(folder, sheet) == []


def test_a_finding_names_the_file_the_exercise_and_the_line(sheet, folder):
    (folder / "notes.txt").write_text("weights = scores.softmax(dim=-1)")
    assert leaks(folder, sheet) == [
        "notes.txt: solution sheet/1_attention/attention_answer: 'weights = scores.softmax(dim=-1)'"
    ]


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
        cell.outputs = [new_output("stream", text=f"text\n{line}\n")]
    (folder / "a.ipynb").write_bytes(_notebook(cell))
    (found,) = leaks(folder, sheet)
    assert found.startswith("a.ipynb, cell ") and ": the marker " in found and line[-8:] in found


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


LONG = "total = 0\n    for value in values:\n        total += value\n    return total"


@pytest.mark.parametrize(
    ("solution", "shown", "found"),
    [
        (ANSWER, f"Hint: {ANSWER}", True),
        ("Because the signs cancel.", "Hint: because of what? Because the signs cancel.", True),
        ("return x * x", "    return x * x  # what square is", True),
        ("return x ** 2 + 3 * x - 1", "The answer is `return x**2 + 3*x - 1`.", True),
        (LONG, "\n".join(f"    # {line.strip()}" for line in LONG.split("\n")), True),
        (LONG, "> " + LONG.replace("\n", "\n> "), True),
        ("return x * x", "def area(x):\n    return x * x", False),
        ("return x * x", "def fourth(x):  # square of the square\n    return x * x * x * x", False),
        ("raise NotImplementedError()", "def square(x):\n    raise NotImplementedError()", False),
        ("YOUR ANSWER HERE", "Write over YOUR ANSWER HERE.", False),
        (f"weights = scores.softmax(dim=-1)\n    {LONG}", "A softmax: `weights = scores.softmax(dim=-1)`.", False),
    ],
)
@pytest.mark.parametrize("make", [new_markdown_cell, new_code_cell])
def test_a_solution_that_stands_in_visible_text_is_found(sheet, folder, solution, shown, found, make):
    text = f"def square(x):\n    ### BEGIN SOLUTION\n    {solution}\n    ### END SOLUTION"
    prose = solution.endswith((".", "HERE"))
    cell = _cell(solution if prose else text, "answer", markdown=prose, solution=True, grade=prose, points=1)
    with_it = replace(sheet, source={"1_attention": new_notebook(cells=[cell, make(shown)])})
    said = release_leaks(folder, with_it)
    assert len(said) == found and all("sheet/1_attention/answer" in line for line in said), said


def test_a_solution_that_only_calls_the_visible_test_is_no_leak(sheet, folder):
    cells_of_it = [_cell(SHORT.replace("return np.median(values)", "assert middle([1]) == 1"), "a", solution=True)]
    cells_of_it.append(_cell("assert middle([1]) == 1", "b", grade=True, locked=True, points=1))
    assert release_leaks(folder, replace(sheet, source={"1_attention": new_notebook(cells=cells_of_it)})) == []


@pytest.mark.parametrize(
    "row",
    ["<td>{}</td>", "<td><b>{}</b></td>", "<tspan x='1'>{}</tspan>", "<span class='o'>-</span><span>{}</span>,"],
)
def test_expected_numbers_are_found_in_the_cells_of_a_table_and_between_marks(sheet, folder, row):
    numbers = [f"{number:.4f}".lstrip("-" if row.startswith("<span") else "") for number in EXPECTED[1]]
    signed = [row if value < 0 else row.replace("-", "") for value in EXPECTED[1]]
    (folder / "a.html").write_text("".join(one.format(text) for one, text in zip(signed, numbers, strict=True)))
    assert leaks(folder, sheet) == ["a.html: numbers of the expected tensor sheet/attention/0/output"]


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
    assert [*secrets._groups(np.array([0.0001, 0.0002, 0.0003]))] == []
    assert [*secrets._groups(np.array([0.0101, 0.0002, 0.0003]))] == [(101, 2, 3)]


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
    assert len(leaks(folder, sheet, other)) == 2
