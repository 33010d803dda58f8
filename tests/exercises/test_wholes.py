"""A whole and its parts, each an exercise: a mistake costs the exercise that owns it, and no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import combinations
from typing import Any

import pytest

from autograder.authoring.trial import Trials, imports_of_trials
from autograder.exercise import SampleAnswer
from autograder.kernel.fork_server import KernelForkServer
from autograder.model.cells import grade_id
from autograder.model.course import Course
from autograder.references import loader
from tests.grading import REFERENCES, ROOT, assignment, cell_of, grade_cells, solution

WHOLES = {
    slug: made.slugs_of_parts
    for name in Course(ROOT).assignments()
    for slug, made in REFERENCES.exercises(name).items()
    if made.parts
}


def wrong_answers(slug: str) -> list[SampleAnswer]:
    return list(loader.sample_answers(REFERENCES.folder, slug)[1])


#: It judges the function of self_attention once more, by another thing.
ONCE_MORE = {"numpy_attention/no_loops"}


@pytest.mark.parametrize("slug", sorted({*WHOLES, *(part for parts in WHOLES.values() for part in parts)} - ONCE_MORE))
def test_no_mistake_in_a_part_or_a_whole_costs_another_exercise(slug: str) -> None:
    """What every answer here costs is tried by the contract: nothing that its author does not say."""
    assert [answer.name for answer in wrong_answers(slug) if answer.also_costs] == []


def pairs() -> Iterator[Any]:
    """For each two parts of a whole that has more of them, filled in in one cell: a mistake in both."""
    classes = {
        slug: parts for slug, parts in WHOLES.items() if not isinstance(REFERENCES.exercise(slug).parts, Mapping)
    }
    for whole, parts in classes.items():
        patched = {part: [answer for answer in wrong_answers(part) if answer.changes] for part in parts}
        for first, second in combinations(parts, 2) if len(parts) > 2 else ():
            ours, theirs = patched[first], patched[second]
            if ours and theirs and ours[0].cell == theirs[-1].cell:
                yield pytest.param(whole, (first, second), ours[0], theirs[-1], id=f"{first} and {second}")


@pytest.fixture(scope="module")
def fork_server() -> Iterator[str]:
    with closing(KernelForkServer(imports_of_trials(ROOT))) as server:
        yield server.address


@pytest.mark.slow
@pytest.mark.parametrize(("whole", "parts", "first", "second"), pairs())
def test_mistakes_in_two_parts_cost_these_two(
    whole: str, parts: tuple[str, str], first: SampleAnswer, second: SampleAnswer, fork_server: str
) -> None:
    with Trials(assignment(whole.partition("/")[0]), fork_server) as trials:
        text = trials.solutions[first.cell]
        for old, new in (*first.changes, *second.changes):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        tried = trials.run({first.cell: text})
    lost = {name for name, verdict in tried.verdicts.items() if verdict.points != verdict.max_points}
    assert lost == {part.partition("/")[2] for part in parts}


BLOCK = solution("distilbert", "2_attention_block", "attention_block_answer")
STEPS = {
    "self.attention_scores(q, k)": "q @ k.mT",
    "self.attention_weights(scores)": "scores.softmax(-1)",
    "self.attention_context(weights, v)": "weights @ v",
}


def in_one_forward(methods: str, **changes: str) -> str:
    """The block, its forward without calls of its methods. methods: "stubs", or "none"."""
    head, marker, rest = BLOCK.partition("    def attention_scores")
    parts, given, forward = rest.partition("    # Given: the block")
    for call, step in {**STEPS, **changes}.items():
        assert forward.count(call) == 1
        forward = forward.replace(call, step)
    for step in ("return q @ k.transpose(-2, -1)", "return scores.softmax(dim=-1)", "return weights @ v"):
        assert parts.count(step) == 1
        parts = parts.replace(step, "raise NotImplementedError()")
    return head + (marker + parts if methods == "stubs" else "") + given + forward


@pytest.mark.slow
@pytest.mark.parametrize("methods", ["stubs", "none"])
def test_parts_within_a_right_whole_have_their_points_and_within_a_wrong_one_none(methods: str) -> None:
    name = "2_attention_block"
    right = grade_cells("distilbert", name, {"attention_block_answer": in_one_forward(methods)})
    assert [cell.cell for cell in right.cells if cell.points != cell.max_points] == []
    mistaken = in_one_forward(methods, **{"self.attention_weights(scores)": "scores.softmax(-2)"})
    wrong = grade_cells("distilbert", name, {"attention_block_answer": mistaken})
    lost = {cell.cell for cell in wrong.cells if cell.points != cell.max_points}
    assert {"attention_scores", "attention_weights", "attention_context"} <= lost
    assert cell_of(wrong, "attention_init").points == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "seam"),
    [
        ("weights = self.attention_weights(scores)", "weights = self.attention_weights(scores.mT)"),
        ("weights = self.attention_weights(scores)", "weights = self.attention_weights(scores).sigmoid()"),
        ("context = self.attention_context(weights, v)", "context = self.attention_context(weights, v) + q"),
        ("context = self.attention_context(weights, v)", "context = self.attention_context(weights, v).double()"),
        ("return ffn_output, weights", "return ffn_output + hidden_states, weights"),
        ("return ffn_output, weights", "return ffn_output.squeeze(), weights"),
        ("return ffn_output, weights", "return ffn_output.tolist(), weights"),
    ],
)
def test_a_seam_costs_the_whole_once(given: str, seam: str) -> None:
    assert BLOCK.count(given) == 1
    verdict = grade_cells("distilbert", "2_attention_block", {"attention_block_answer": BLOCK.replace(given, seam)})
    assert {cell.cell for cell in verdict.cells if cell.points != cell.max_points} == {"attention_block"}


@pytest.mark.slow
@pytest.mark.parametrize("whole", ["embeddings", "attention_block", "pretrained_logits"])
def test_a_class_that_was_left_as_it_was_earns_nothing(whole: str) -> None:
    exercise = REFERENCES.exercise(f"distilbert/{whole}")
    cell = exercise.cell or f"{whole}_answer"
    (name, left), *_ = (
        (name, one.source)
        for name, notebook in assignment("distilbert").release.items()
        for one in notebook.cells
        if grade_id(one) == cell
    )
    verdict = grade_cells("distilbert", name, {cell: left})
    assert {cell_of(verdict, one).points for one in (whole, *exercise.parts)} == {0}
