"""What becomes of an otter notebook: cells, points, tests, and a line for all that is lost."""

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.convert.otter import Converted, convert
from autograder.convert.otter_tests import OtterTest, resolve_points, with_regions
from autograder.errors import GradingError
from autograder.model import cells
from tests.convert.notebook import code, notebook, question, raw, text

ANSWER = code("x = 3 # SOLUTION")


def graded(made: Converted) -> dict[str, NotebookNode]:
    return {str(cells.grade_id(cell)): cell for cell in made.notebook.cells if cells.grade_id(cell)}


def the_test(cell: NotebookNode, *, config: str = "", setup: str = "") -> str:
    """The source of the only test of the only question."""
    parts = [raw(f"# ASSIGNMENT CONFIG\n{setup}")] if setup else []
    return graded(convert(notebook(*parts, question("q", cell, solution=ANSWER, config=config))))["q"].source


def refused(*parts: NotebookNode | list[NotebookNode]) -> str:
    with pytest.raises(GradingError) as error:
        convert(notebook(*parts))
    assert "\n" not in str(error.value)
    return str(error.value)


# --- solutions --------------------------------------------------------------------------------------------------------


def test_each_body_and_each_depth_has_a_region_of_its_own():
    source = "def f(x):\n    y = 2 # SOLUTION NO PROMPT\n    return y # SOLUTION\n\nz = f(3) # SOLUTION"
    assert with_regions(source) == (
        "def f(x):\n    ### BEGIN SOLUTION\n    y = 2\n    return y\n    ### END SOLUTION\n\n"
        "# z = ...\n### BEGIN SOLUTION\nz = f(3)\n### END SOLUTION"
    )


def test_a_block_keeps_its_lines_and_a_prompt_becomes_comments():
    source = (
        "def g(r):\n    # BEGIN SOLUTION NO PROMPT\n    a = 1\n\n    return a * r\n    # END SOLUTION\n"
        '    """ # BEGIN PROMPT\n    # Next.\n    pass\n    """; # END PROMPT\nprint(1)'
    )
    assert with_regions(source) == (
        "def g(r):\n    ### BEGIN SOLUTION\n    a = 1\n\n    return a * r\n    ### END SOLUTION\n"
        "    # Next.\n    # pass\nprint(1)"
    )


def test_a_comparison_is_no_assignment_and_ignored_lines_are_gone():
    assert with_regions("x == 3 # SOLUTION\nprint(x) # IGNORE") == "### BEGIN SOLUTION\nx == 3\n### END SOLUTION"


def test_a_region_without_an_end_is_refused_with_its_cell():
    said = refused(question("q", solution=code("# BEGIN SOLUTION\nx = 3")))
    assert "q_answer" in said and "END SOLUTION" in said


def test_the_students_version_hides_what_otter_hides():
    made = convert(notebook(question("q", code("x", "3"), solution=ANSWER)))
    cell = graded(made)["q_answer"]
    assert cells.is_solution(cell) and not cells.is_graded(cell)
    assert cell.source == "# x = ...\n### BEGIN SOLUTION\nx = 3\n### END SOLUTION"


def test_a_solution_without_a_mark_is_a_solution_as_a_whole_and_said():
    made = convert(notebook(question("q", code("x", "3"), solution=code("x = 3"))))
    assert graded(made)["q_answer"].source == "x = 3"
    assert any("q_answer" in note and "all of it" in note for note in made.notes)


def test_a_mark_outside_of_a_solution_block_is_refused():
    assert "outside" in refused(code("x = 3 # SOLUTION"), question("q", code("x", "3"), solution=ANSWER))


# --- tests ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (code("square(3)", "9"), "assert square(3) == 9"),
        (code("y = 2\nsquare(y)", "4"), "y = 2\nassert square(y) == 4"),
        (code("x == 3", "True"), "assert x == 3"),
        (code("not x", "False"), "assert not (not x)"),
        (code("is_even(2)", "True"), "assert is_even(2) == True"),
        (code("x + 1", "4"), "assert (x + 1) == 4"),
        (code("names", "['a',\n 'b']"), "assert names == ['a', 'b']"),
        (code("table", "   a\n0  1"), "assert repr(table) == '   a\\n0  1'"),
        (code("assert x == 3"), "assert x == 3"),
        (code("np.testing.assert_allclose(x, 3)"), "np.testing.assert_allclose(x, 3)"),
        (code("# HIDDEN\nx", "3"), "# q: hidden tests\n### BEGIN HIDDEN TESTS\nassert x == 3\n### END HIDDEN TESTS"),
        (
            code("for i in range(2):\n    print(x + i)", printed="3\n4\n"),
            "from contextlib import redirect_stdout\nfrom io import StringIO\n"
            "with redirect_stdout(StringIO()) as printed:\n    for i in range(2):\n        print(x + i)\n"
            "assert printed.getvalue() == '3\\n4\\n'",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_test_showed_is_what_its_assert_expects(cell, expected):
    assert the_test(cell) == expected


def test_a_test_that_shows_and_prints_must_do_both(capsys):
    source = the_test(code("print('a')\nx", "3", printed="a\n"))
    exec(source, {"x": 3})
    with pytest.raises(AssertionError):
        exec(source, {"x": 4})
    with pytest.raises(AssertionError):
        exec(source.replace("print('a')", "print('b')"), {"x": 3})
    assert capsys.readouterr().out == ""


def test_a_message_for_failures_stands_behind_each_assert_without_one():
    cell = code(
        '""" # BEGIN TEST CONFIG\nfailure_message: "§ 3"\n""" # END TEST CONFIG\nassert "ä" and x == 3\nassert x, "own"'
    )
    assert the_test(cell) == 'assert "ä" and x == 3, \'§ 3\'\nassert x, "own"'


def test_a_test_function_is_called_with_the_students_names():
    cell = code("def test_x(x, y, tolerance=1):\n    assert x == y\n\ntest_x(3, 4)  # IGNORE")
    source = the_test(cell, setup="tests:\n    ok_format: false")
    assert source == "def test_x(x, y, tolerance=1):\n    assert x == y\ntest_x(x, y)"


@pytest.mark.parametrize("cell", [code("x == 3"), code("x")])
def test_a_test_that_expects_nothing_known_stops_the_conversion(cell):
    assert "question 'q', test 1" in refused(question("q", cell, solution=ANSWER))


@pytest.mark.parametrize("config", ["points: many", "points: [", "- 1"])
def test_a_config_that_says_nothing_stops_the_conversion(config):
    cell = code(f'""" # BEGIN TEST CONFIG\n{config}\n""" # END TEST CONFIG\nassert x')
    assert "question 'q', test 1 has a config" in refused(question("q", cell, solution=ANSWER))


def test_a_call_without_an_output_is_kept_and_said():
    made = convert(notebook(question("q", code("look_at(x)"), solution=ANSWER)))
    assert graded(made)["q"].source == "look_at(x)"
    assert any("only has to run" in note for note in made.notes)


def test_a_test_that_ended_with_an_error_stops_the_conversion():
    cell = code("x")
    cell.outputs = [nbformat.v4.new_output("error", ename="NameError", evalue="x", traceback=[])]
    assert "NameError" in refused(question("q", cell, solution=ANSWER))


# --- points -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "own", "expected"),
    [
        (None, [None], [1]),
        (None, [None, None], [0.5, 0.5]),
        (None, [2, None], [2, 0]),
        (None, [0, None], [0, 1]),
        (4, [None, None], [2, 2]),
        (4, [3, None], [3, 1]),
        ([1, 2], [None, None], [1, 2]),
        ({"each": 2}, [None, None], [2, 2]),
    ],
)
def test_points_are_shared_as_otter_shares_them(points, own, expected):
    assert resolve_points(points, [OtterTest("", False, one) for one in own]) == expected


@pytest.mark.parametrize(
    ("points", "own"),
    [(1, [2]), ([1], [None, None]), ("2", [None]), (-1, [None]), ({"each": "a"}, [None]), (True, [None])],
)
def test_points_that_contradict_each_other_are_refused(points, own):
    with pytest.raises(GradingError):
        resolve_points(points, [OtterTest("", False, one) for one in own])


def test_each_test_is_a_graded_cell_with_its_own_points():
    tests = (code("x", "3"), code("# HIDDEN\nx", "3"))
    made = graded(convert(notebook(question("q 1", *tests, solution=ANSWER, config="points: 3"))))
    assert list(made) == ["q_1_answer", "q_1_1", "q_1_2"]
    assert [cells.max_points(made[one]) for one in ("q_1_1", "q_1_2")] == [1.5, 1.5]
    assert all(cells.is_autograded(made[one]) and cells.is_locked(made[one]) for one in ("q_1_1", "q_1_2"))


def test_a_question_by_hand_has_its_points_in_its_answer():
    made = convert(notebook(question("why", solution=text("Because."), config="manual: true\npoints: 3")))
    (cell,) = graded(made).values()
    assert cells.is_manually_graded(cell) and cells.max_points(cell) == 3 and cell.source == "Because."


@pytest.mark.parametrize(
    ("config", "points", "note"),
    [
        ("manual: true", 1, "no points are given; its cell has 1 point"),
        ("manual: true\npoints: [1, 2]", 3, "are added up"),
        ("manual: true\npoints: {each: 2}", 1, "({'each': 2}) are no number"),
    ],
)
def test_points_that_a_person_gives_are_told_as_they_are_written(config, points, note):
    made = convert(notebook(question("why", solution=text("Because."), config=config)))
    (cell,) = [one for one in made.notebook.cells if cells.is_graded(one)]
    assert cells.max_points(cell) == points
    assert any(note in one for one in made.notes)


def test_a_question_without_a_solution_block_is_taken_and_said():
    bare = [raw("# BEGIN QUESTION\nname: why\nmanual: true\npoints: 2"), text("Why?"), raw("# END QUESTION")]
    made = convert(notebook(*bare, question("q", code("x", "3"))))
    assert cells.is_manually_graded(graded(made)["why_answer"]) and made.points == 3
    assert [note.partition(",")[0] for note in made.notes] == [
        "why: has no solution block: students write into the cell that stands for it",
        "q: has no solution block: students add a cell of their own",
    ]


def test_tests_of_a_question_by_hand_have_no_points_and_it_is_said():
    made = convert(notebook(question("q", code("x", "3"), solution=ANSWER, config="manual: true\npoints: 3")))
    assert made.points == 3 and cells.max_points(graded(made)["q"]) == 0
    assert any("a person gives its points" in note for note in made.notes)


# --- the notebook -----------------------------------------------------------------------------------------------------


def test_otters_own_cells_are_gone_and_the_rest_stays_in_order():
    parts = [raw("# ASSIGNMENT CONFIG\ninit_cell: false"), code("import otter\ngrader = otter.Notebook()"),
             text("# Title"), code("import numpy as np\nimport otter"), text("## Ignore ##\nmine"),
             code('grader.check("q")'), *question("q", code("x", "3"), solution=ANSWER)]  # fmt: skip
    made = convert(notebook(*parts))
    sources = [cell.source for cell in made.notebook.cells]
    assert sources[:2] == ["# Title", "import numpy as np"] and len(sources) == 4
    assert made.notes == []


def test_what_cannot_be_carried_over_is_one_line_each():
    setup = "# ASSIGNMENT CONFIG\nplugins:\n  - otter.plugins.Rate\nrequirements: [pandas]\nexport_cell: true\nodd: 1"
    cell = code('""" # BEGIN TEST CONFIG\nsuccess_message: Well done!\n""" # END TEST CONFIG\nassert x')
    made = convert(notebook(raw(setup), question("q", cell, solution=ANSWER, prompt=code("x = ..."))))
    assert [note.partition(":")[0] for note in made.notes] == ["plugins", "requirements", "odd", "q, test 1", "q"]
    assert graded(made)["q_answer"].source.startswith("# x = ...\n")


def test_a_fence_called_otter_is_a_raw_cell():
    fenced = [text("```otter\n# BEGIN QUESTION\nname: q\n```\n\nAbout q."), text("```otter\n# BEGIN TESTS\n```"),
              code("x", "3"), text("```otter\n# END TESTS\n```"), text("```otter\n# END QUESTION\n```")]  # fmt: skip
    made = convert(notebook(*fenced))
    assert [cell.source for cell in made.notebook.cells] == ["About q.", "assert x == 3"]


@pytest.mark.parametrize(
    ("parts", "word"),
    [
        ([code("x = 1")], "otter assign"),
        ([text("```\nBEGIN QUESTION\nname: q\n```")], "v0"),
        ([raw("# BEGIN QUESTION\nname: q")], "END QUESTION"),
        ([raw("# BEGIN QUESTION\npoints: 2"), raw("# END QUESTION")], "no name"),
        ([raw("# BEGIN TESTS"), raw("# END TESTS")], "cell 1"),
        ([raw("# BEGIN QUESTION\nname: q"), raw("# BEGIN TESTS"), raw("# END QUESTION")], "cell 3"),
        ([raw("# BEGIN QUESTION\nname: [")], "YAML"),
        ([*question("q", code("x", "3")), *question("q", code("x", "3"))], "two cells"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(parts, word):
    assert word in refused(*parts)


def test_another_language_is_refused():
    made = notebook(question("q", code("x", "3")))
    made.metadata["kernelspec"]["language"] = "R"
    with pytest.raises(GradingError, match="only Python"):
        convert(made)


def test_two_conversions_are_the_same():
    made = notebook(text("a"), question("q", code("x", "3"), solution=ANSWER))
    assert nbformat.writes(convert(made).notebook) == nbformat.writes(convert(made).notebook)
