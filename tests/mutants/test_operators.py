"""What a mutant is: one small change, valid Python, the same id every time, each change once."""

import ast
from dataclasses import replace

import pytest

from autograder.authoring.trial import Tried
from autograder.model.verdict import CellVerdict, Check
from autograder.mutants.generate import Mutant, SolutionPart, mutants, sample
from autograder.mutants.rows import Survey, row
from autograder.mutants.run import Outcome, graded_outcome

ATTENTION = '''
class Attention(nn.Module):
    """One head."""

    def __init__(self, dim, rate=0.1):
        super().__init__()
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(3))

    def forward(self, x: Tensor, mask=None) -> Tensor:
        """x (batch, tokens, dim) -> the same"""
        scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(x.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -math.inf)
        weights = scores.softmax(dim=-1)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x + weights @ x)
'''


def part(text: str, name: str = "attention") -> SolutionPart:
    return SolutionPart("course", f"{name}_answer", name, text, (1, text.count("\n") + 1), (name,), (), True)


def changes(text: str) -> list[Mutant]:
    return mutants(part(text))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [mutant.text for mutant in changes(ATTENTION)]


@pytest.mark.parametrize(
    "changed",
    [
        "self.q(x) @ self.k(x).transpose(0, 1) / math.sqrt",  # another pair of axes
        "self.q(x) @ self.k(x) / math.sqrt",  # not transposed
        "(self.k(x).transpose(1, 2) @ self.q(x))",  # operands exchanged
        "= (self.q(x) @ self.k(x).transpose(1, 2))\n",  # without scale
        "/ (x.shape[-1])",  # without the root
        "self.k(x) @ self.k(x).transpose(1, 2)",  # keys as queries
        "x.shape[-2])",
        "(mask != 0), -math.inf",  # the mask the wrong way round
        "not (mask is not None)",
        "softmax(dim=-2)",
        "scores.sigmoid(dim=-1)",
        "list(self.layers)[1:]",  # a layer is skipped
        "list(self.layers)[:-1]",
        "self.norm(weights @ x)",  # without the skip
        "(self.norm(x) + weights @ x)",  # the norm at another place
        "(self.norm(x + weights @ x)).detach()",
        "(self.norm(x + weights @ x)).half().float()",
        "nn.functional.dropout((self.norm(x + weights @ x)), 0.1)",
        "bias=True)",
        "nn.LayerNorm(dim, eps=0.1)",
        "list(nn.Linear(dim, dim) for _ in range(3))",  # layers that are not registered
        "range(1, 3 + 1)",
        "x.add_(weights @ x)",  # in place
    ],
)
def test_the_fields_mistakes_are_among_the_mutants(changed, texts):
    assert any(changed in text for text in texts), changed


def test_every_mutant_is_python_and_another_program():
    found = changes(ATTENTION)
    trees = [ast.dump(ast.parse(mutant.text)) for mutant in found]
    assert len(set(trees)) == len(trees) > 100
    assert ast.dump(ast.parse(ATTENTION)) not in trees


def test_docstrings_annotations_and_imports_stay_as_they_are():
    text = 'import math\n\n\ndef half(x: int = 2) -> "float":\n    """Half of it."""\n    return x / 2\n'
    for mutant in changes(text):
        assert "import math\n\n\ndef half(x: int" in mutant.text and '"""Half of it."""' in mutant.text
        assert '-> "float"' in mutant.text


def test_an_id_is_the_same_where_other_lines_change():
    before = {mutant.id for mutant in changes("def f(x):\n    y = x + 1\n    return y\n")}
    after = {mutant.id for mutant in changes("def f(x):\n    # what follows\n    y = x + 1\n    return y\n")}
    assert before == after


def test_equal_statements_have_mutants_of_their_own():
    ids = [mutant.id for mutant in changes("def f(x):\n    x = x + 1\n    x = x + 1\n    return x\n")]
    assert len(set(ids)) == len(ids)


def test_a_mutant_says_what_it_changes():
    (mutant,) = [one for one in changes("def f(x):\n    return x.mean(axis=0)\n") if one.after == "-1"]
    assert mutant.description == "axis, line 2: 0 → -1"
    assert mutant.diff() == "@@ -2 +2 @@\n-    return x.mean(axis=0)\n+    return x.mean(axis=-1)"


def test_a_change_of_an_errors_words_alone_is_known():
    found = changes('def f(x):\n    if x < 0:\n        raise ValueError("too small")\n    return x\n')
    assert [one.message for one in found if "too small" in one.before and one.operator == "constant"] == [True]
    assert not any(one.message for one in found if one.operator == "comparison")


def test_a_sample_stays_what_it_was_where_mutants_are_added():
    every = changes(ATTENTION)
    few = sample(every, 10, seed=3)
    assert few == sample(every, 10, seed=3) and len(few) == 10
    assert few != sample(every, 10, seed=4)
    fewer = [mutant for mutant in every if mutant not in few[:5]]
    assert set(few[5:]) <= set(sample(fewer, 10, seed=3))


PASSED = CellVerdict("a", "passed", 2.0, 2.0, ())
FAILED = CellVerdict("a", "failed", 0.0, 2.0, (Check("a", False, "The sums are not 1.", "", ""),))


@pytest.mark.parametrize(("verdict", "kind"), [(PASSED, "passed"), (FAILED, "property")])
@pytest.mark.parametrize("said", ["", "CheckFailed: a: no"])
def test_an_outcome_keeps_what_the_visible_check_of_the_cell_said(verdict: CellVerdict, kind: str, said: str) -> None:
    found = graded_outcome(Tried({"a": verdict}, {"a": said}), True, 0.1)
    assert (found.kind, found.visible) == (kind, said)


def test_a_tick_for_lost_points_and_a_cross_at_full_points_are_counted_apart() -> None:
    outcomes = [
        Outcome("named", visible="no"),
        Outcome("values", ticked=True),
        Outcome("values"),  # a question: its check says neither
        Outcome("equivalent", visible="no"),
        Outcome("accepted", visible="no"),
        Outcome("equivalent"),
    ]
    found = row("a", outcomes)
    assert (found.ticked, found.refused) == (1, 2)


def test_a_survey_lists_what_a_visible_check_refuses_at_full_points() -> None:
    first, second, third = mutants(part("def f(x):\n    return 2 * x\n"))[:3]
    same = Outcome("equivalent")
    outcomes = {first.id: same, second.id: replace(same, visible="no"), third.id: Outcome("named", visible="no")}
    assert [one.id for one, _ in Survey([first, second, third], outcomes).refused] == [second.id]
