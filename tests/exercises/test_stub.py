"""A NotImplementedError that a library raises is no stub: the student's check and the judge say what happened."""

import pytest
from torch import nn

from autograder.tester.failure import line_that_raised
from course.check.base import CheckFailed, is_stub, running
from tests.exercises.test_answers import one_worker
from tests.grading import cell_of, grade_cells, solution
from tests.plain.tiny import assignment, graded, test
from tests.plain.tiny import solution as answer

NOT_FILLED_IN = "not filled in yet"
MISSPELT = ("def forward(", "def foward(")


def words(verdict, grade_id: str) -> str:
    checks = cell_of(verdict, grade_id).checks
    return " ".join(f"{check.message} {check.hint}" for check in checks if not check.passed)


def said(raising) -> str:
    with pytest.raises(CheckFailed) as failure, running("part", "calling it"):
        raising()
    return str(failure.value)


def stub() -> None:
    # YOUR CODE HERE
    raise NotImplementedError()


class Misspelt(nn.Module):
    def foward(self, x):
        return x


def test_the_visible_check_tells_a_stub_from_what_torch_raises() -> None:
    assert NOT_FILLED_IN in said(stub)
    unfinished = type("Unfinished", (nn.Module,), {"forward": lambda self, x: stub()})
    assert NOT_FILLED_IN in said(lambda: nn.Sequential(nn.Identity(), unfinished())(1))
    for called, hint in ((Misspelt(), "a method called forward"), (nn.ModuleList([Misspelt()]), "with for")):
        told = said(lambda called=called: called(1))
        assert NOT_FILLED_IN not in told and 'required "forward"' in told and hint in told


def test_only_a_raise_of_the_students_own_is_a_stub() -> None:
    own: dict = {}
    library: dict = {}
    exec(compile("def f():\n    raise NotImplementedError", "/usr/lib/python3/dist-packages/x.py", "exec"), library)
    exec(compile("def f():\n    raise NotImplementedError", "<cell>", "exec"), own)
    assert [is_stub(raised_by(one["f"])) for one in (own, library)] == [True, False]
    in_c = raised_by(lambda: int(type("Raises", (), {"__int__": lambda self: library["f"]()})()))
    assert not is_stub(in_c) and not is_stub(NotImplementedError())


def raised_by(function) -> BaseException:
    with pytest.raises(NotImplementedError) as caught:
        function()
    return caught.value


@pytest.mark.slow
@one_worker("distilbert")
def test_a_misspelt_forward_is_called_so_in_every_cell_that_it_costs() -> None:
    block = solution("distilbert", "2_attention_block", "attention_block_answer").replace(*MISSPELT)
    verdict = grade_cells("distilbert", "2_attention_block", {"attention_block_answer": block})
    lost = [one.cell for one in verdict.cells if one.max_points and one.points == 0]
    assert lost
    for name in lost:
        assert "Not filled in" not in words(verdict, name)
        assert "a method called forward" in words(verdict, name)


@pytest.mark.slow
@one_worker("distilbert")
def test_who_calls_a_module_list_is_told_to_go_through_it() -> None:
    model = solution("distilbert", "3_model_assembly", "classifier_model_answer")
    loop = model[model.index("        for i, block in") : model.index("        return hidden_states")]
    wrong = model.replace(loop, "        hidden_states, weights = self.attention_layers(hidden_states)\n")
    verdict = grade_cells("distilbert", "3_model_assembly", {"classifier_model_answer": wrong})
    assert "go through it with for" in words(verdict, "encoder_loop")
    assert "Not filled in" not in words(verdict, "encoder_loop")


@pytest.mark.slow
def test_a_plain_test_tells_them_apart_as_well() -> None:
    opened = assignment(answer("def f():\n    return 1", "f_answer"), test("assert f() == 1", "f"))
    stopped = "Your code stopped with NotImplementedError"
    hints = {
        "def f():\n    # YOUR CODE HERE\n    raise NotImplementedError()": "Not filled in yet.",
        "import numbers\ndef f():\n    return numbers.Integral.__int__(1)": stopped,
    }
    for text, told in hints.items():
        (one,) = graded(opened, {"f_answer": text}).verdict.notebooks[0].cells
        assert one.checks[0].message.startswith(told)


def test_the_line_that_raised_is_read_from_both_forms_of_a_traceback() -> None:
    python = (
        'Traceback (most recent call last):\n  File "<cell>", line 3, in f\n    raise NotImplementedError()\n'
        "NotImplementedError\n"
    )
    assert line_that_raised(python) == ("", "raise NotImplementedError()")
    assert line_that_raised(python.replace("<cell>", "/tmp/x/models.py"))[0] == "models.py"
    library = '  File "/x/lib/python3.11/numbers.py", line 3, in f\n    raise NotImplementedError\n'
    assert line_that_raised(library) == line_that_raised("") == ("", "")
