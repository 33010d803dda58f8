"""What a page shows of a solved run: nothing that tells an answer, and all the rest."""

import base64

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from autograder.site.shown import KEEP, LEFT_OUT, MISTAKE, REMOVE, SHORTER, YOUR_CODE, left_out, page

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(60)).decode()


def _cell(source: str, name: str, *tags: str, **marks: object) -> NotebookNode:
    cell = new_code_cell(source, id=name)
    if marks:
        cell.metadata["nbgrader"] = {"grade": False, "solution": False, "schema_version": 3, "grade_id": name, **marks}
    if tags:
        cell.metadata["tags"] = list(tags)
    return cell


def _answer(source: str) -> NotebookNode:
    return _cell(source, "answer", solution=True)


@pytest.mark.parametrize(
    ("answer", "following", "tells"),
    [
        ("choice = 'c'", "print(choice)", True),
        ("choice: str = 'c'", "check.choice(choice)", True),
        ("choices = []\nchoices.append('c')", "choices", True),
        ("given['choice'] = 'c'", "given", True),
        ("if True:\n    choice = 'c'", "choice", True),
        ("def choice():\n    return 'c'", "choice()", False),
        ("class Choice:\n    value = 'c'", "Choice.value", False),
        ("import torch\ntorch.manual_seed(0)", "torch.rand(1)", False),
        ("choice = 'c'", "choice = 1\nprint(2)", False),
        ("choice = 'c'", "print(other)", False),
        ("choice = 'c'", "this is no Python", True),
        ("choice = 'c'", "!echo $choice", True),
        ("choice = 'c'", "%whos", True),
        ("choice = 'c'", "history = [1]\nprint(history, 5 % 3)", False),
        ("choice = 'c'", "%timeit f(x)", False),
        ("choice = 'c'\nchoice", "print(_)", True),
        ("choice = 'c'", "for _ in range(3):\n    print(2)", False),
        ("def choose():\n    global choice\n    choice = 'c'", "choose()\nprint(choice)", True),
        ("def choice():\n    return 'c'", "print(In[-2])", True),
        ("def choice():\n    return 'c'", "%history", True),
        ("def choice():\n    return 'c'", "choice??", True),
        ("def choice():\n    return 'c'", "print(inspect.getsource(choice))", True),
        ("def choice():\n    return 'c'", "choice.__code__.co_consts", True),
        ("def choice():\n    return 'c'", "print(inspect.getsource(other))", False),
        ("def choice():\n    return 'c'", "other??\nprint(choice())", False),
        ("def choice():\n    return 'c'", "%timeit choice()", False),
    ],
)
def test_what_reads_the_value_of_an_answer_is_left_out(answer: str, following: str, tells: bool) -> None:
    found = list(left_out(new_notebook(cells=[_answer(answer), _cell(following, "following")])))
    assert found == (["following"] if tells else [])


def test_what_is_made_of_an_answer_tells_it_too_until_the_name_is_given_anew() -> None:
    sources = ("double = 2 * number", "def shown():\n    print(double)", "shown()", "number = 1", "number", "double")
    cells = [_answer("number = 21"), *(_cell(text, f"c{at}") for at, text in enumerate(sources))]
    assert list(left_out(new_notebook(cells=cells))) == ["c0", "c1", "c2", "c5"]


def test_a_tag_says_otherwise() -> None:
    cells = [_answer("number = 21"), _cell("number", "kept", KEEP), _cell("secret()", "removed", REMOVE)]
    assert list(left_out(new_notebook(cells=cells))) == ["removed"]


def test_what_hidden_tests_do_concerns_no_other_cell() -> None:
    hidden = "for case in reference('a/b'):\n    case.compare(x=number)"
    hidden = f"check(number)\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
    cells = [_answer("number = 21"), _cell(hidden, "graded", grade=True), _cell("case = 1\ncase", "given")]
    assert list(left_out(new_notebook(cells=cells))) == ["graded"]


def test_a_page_has_the_stub_and_the_check_and_no_output_of_the_solution() -> None:
    source = new_notebook(cells=[_answer("def f(): return 1"), _cell("check.f(f)", "graded", grade=True)])
    released = new_notebook(cells=[_answer("# YOUR CODE HERE"), _cell("check.f(f)", "graded", grade=True)])
    shown = {"answer": [new_output("stream", text="secret")], "graded": [new_output("stream", text="✓ f: right")]}
    made = page(released, source, shown)
    assert [cell.source for cell in made.cells] == ["# YOUR CODE HERE", YOUR_CODE, "check.f(f)"]
    assert [cell.get("outputs") for cell in made.cells] == [[], None, [new_output("stream", text="✓ f: right")]]
    assert released.cells[1].outputs == [], "what students get stays as it is"


def test_a_page_says_where_an_output_is_missing_or_cut_short() -> None:
    texts = ("print(choice)", "steps = 2 if 'AUTOGRADER_INPUTS' in os.environ else 900", "train(steps)", "train(4)")
    cells = [_answer("choice = 'c'"), *(_cell(text, f"c{at}") for at, text in enumerate(texts))]
    shown = {f"c{at}": [new_output("stream", text="c")] for at in (0, 2, 3)}
    made = page(new_notebook(cells=cells), new_notebook(cells=cells), shown)
    assert [cell.source for cell in made.cells] == [
        "choice = 'c'", YOUR_CODE, texts[0], LEFT_OUT, texts[1], texts[2], SHORTER, texts[3],
    ]  # fmt: skip


def test_an_error_is_shown_without_a_line_of_code_and_a_script_not_at_all() -> None:
    trace = ["Cell In[3], line 2", "----> 2 return solution_line(1)"]
    outputs = [
        new_output("error", ename="ValueError", evalue="too small", traceback=trace),
        new_output("display_data", {"text/html": "<div></div><script>draw(secret)</script>", "text/plain": "<View>"}),
        new_output("display_data", {"image/png": PNG}, metadata={"image/png": {"alt": "Two heads and their weights."}}),
    ]
    cells = [_cell("run()", "run")]
    (shown,) = page(new_notebook(cells=cells), new_notebook(cells=cells), {"run": outputs}).cells
    assert "solution_line" not in str(shown) and "secret" not in str(shown)
    assert shown.outputs[0].text == "ValueError: too small\n"
    assert "interactive view" in shown.outputs[1].data["text/markdown"]
    assert shown.metadata.mystnb.image.alt == "Two heads and their weights."


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_no_warning_and_no_traceback_shows_a_line_of_the_solution(name: str) -> None:
    """Python shows the line that a warning or an error comes from. Short ones are too common to be searched for."""

    def said(*lines: str) -> str:
        cell = "/tmp/home/tmp/ipykernel_7/123.py"
        return "\n".join(lines).format(f"{cell}:", f'File "{cell}", line 4, in f', 'File "/tmp/w/models.py", line 2')

    warned = ("{0}4: RuntimeWarning: divide by zero", "of two", "  w = a / b", "the mean is 0.5")
    traced = ("Traceback (most recent call last):", "  {1}", "    w = a / b", "        ~~^~~", "  {2}", "    y = w",
              "  | TypeError: no")  # fmt: skip
    source = new_notebook(cells=[_answer("def f(a, b):\n    w = a / b\n    return w"), _cell("f(1, 0)", "run")])
    released = new_notebook(cells=[_answer("# YOUR CODE HERE"), _cell("f(1, 0)", "run")])
    outputs = [new_output("stream", name=name, text=said(*warned)), new_output("stream", name=name, text=said(*traced))]
    (_, _, run) = page(released, source, {"run": outputs}, code={"y = w"}).cells
    first, second = (output.text.split("\n") for output in run.outputs)
    assert first == ["your notebook:4: RuntimeWarning: divide by zero", "of two", "the mean is 0.5"]
    assert second == ["Traceback (most recent call last):", '  File "your notebook", line 4, in f',
                      '  File "models.py", line 2', "  | TypeError: no"]  # fmt: skip


def test_what_looks_like_code_and_comes_with_no_file_stays() -> None:
    source = new_notebook(cells=[_answer("w = 1\nprint(w)"), _cell("show()", "run")])
    (_, _, run) = page(source, source, {"run": [new_output("stream", text="w = 1\n^^^\n")]}).cells
    assert run.outputs[0].text == "w = 1\n^^^\n"


def test_a_text_stays_as_it_is() -> None:
    cells = [new_markdown_cell("# A title\n\n$a^2$")]
    assert page(new_notebook(cells=cells), new_notebook(cells=cells), {}).cells == cells


def test_the_first_graded_cell_with_a_mistake_shows_what_its_check_says_to_it() -> None:
    cells = [_cell(f"check.{name}({name})", name, grade=True) for name in ("first", "second", "third")]
    made = page(new_notebook(cells=cells), new_notebook(cells=cells), {}, {"third": "c", "second": "b:\n```\nsum to 1"})
    assert [cell.source for cell in made.cells] == [
        "check.first(first)", "check.second(second)", f"{MISTAKE}\n\n````text\nb:\n```\nsum to 1\n````",
        "check.third(third)",
    ]  # fmt: skip


def test_an_attached_picture_is_in_its_place_and_raw_text_as_it_stands() -> None:
    attached = new_markdown_cell("![A grey square](attachment:a%20b.png) ![Again](attachment:c.png)")
    attached["attachments"] = {"a b.png": {"image/png": PNG}, "c.png": {"image/png": f"{PNG[:9]}\n{PNG[9:]}"}}
    released = new_notebook(cells=[attached, new_raw_cell("<b>raw</b>")])
    text, raw = page(released, released, {}).cells
    assert text.source == f"![A grey square](data:image/png;base64,{PNG}) ![Again](data:image/png;base64,{PNG})"
    assert (raw.cell_type, raw.source) == ("markdown", "```text\n<b>raw</b>\n```")
    assert "attachment:" in released.cells[0].source, "what students get stays as it is"


@pytest.mark.parametrize(
    ("test", "shown", "tells"),
    [
        ("assert round(mean(ages), 4) == 31.2083", "31.2083", True),
        ("assert round(mean(ages), 4) == 31.2083", "the mean is 31.21 years", True),
        ("assert abs(mean(ages) - 31.2083) < 1e-6", "31.20833333333333", True),
        ("assert abs(mean(ages) - 31.2083) < 1e-6", "3.12e+01", True),
        ("assert mean(ages) == -31.2083", "[-31.208  4.   ]", True),
        ("assert count(ages) == 4182", "4182 of them", True),
        ("assert names(ages) == ['ada', 'grace hopper']", "first grace hopper", True),
        ("self.assertEqual(first(ages), 'grace')", "<b>grace</b>", True),
        ("assert mean(ages) == 31.2083", "31", False),
        ("assert mean(ages) == 31.2083", "31.3", False),
        ("assert mean(ages) == 31.2083", "131.2083, v31.2083, 31.2083.1", False),
        ("assert abs(mean(ages) - 0.5) < 0.001", "0.5 0.001", False),
        ("assert mean(ages) == 17.25", "17.25 is in the text", False),
        ("assert 'weights' in names(ages)", "weights", False),
        ("assert kind(ages) == kind('weights')", "weights", False),
        ("assert kind(ages) == 'stated', 'grace hopper'", "stated grace hopper", False),
        ("this is no Python", "this", False),
    ],
)
def test_an_output_that_shows_what_a_hidden_test_expects_is_left_out(test: str, shown: str, tells: bool) -> None:
    hidden = f"check(mean)\n### BEGIN HIDDEN TESTS\n{test}\n### END HIDDEN TESTS"
    source = new_notebook(cells=[new_markdown_cell("17.25 is stated."), _cell("mean(ages)", "run"),
                                 _cell("mean(ages)", "kept", KEEP), _cell(hidden, "graded", grade=True)])  # fmt: skip
    kind = "text/html" if "<" in shown else "text/plain"
    outputs = [new_output("execute_result", {kind: shown})]
    cells = page(source, source, {"run": outputs, "kept": outputs}).cells
    assert [cell.source == LEFT_OUT for cell in cells[2:3]] == [tells]
    assert next(cell for cell in reversed(cells) if cell.source == "mean(ages)").outputs == outputs
