"""The tutorial's visible checks: they fail for wrong answers, pass for right ones, and disturb nothing."""

import inspect
import re
from pathlib import Path

import pytest
import torch
from torch import nn

from autograder.references import loader
from course import tutorial_parts
from course.check import transformer_tutorial as check
from course.check.base import CheckFailed
from tests.exercises.answers import text_of
from tests.exercises.test_answers import one_worker, trials
from tests.grading import REFERENCES, assignment, solution

ASSIGNMENT = "transformer_tutorial"
pytestmark = one_worker(ASSIGNMENT)


def seen(exercise: str) -> list[str]:
    """The wrong answers that the visible check refuses."""
    _, wrong = loader.sample_answers(REFERENCES.folder, f"{ASSIGNMENT}/{exercise}")
    return [answer.name for answer in wrong if not answer.passes_check]


@pytest.mark.parametrize("exercise", loader.names(REFERENCES.folder, ASSIGNMENT))
def test_the_visible_check_says_what_it_expected_and_what_came(exercise: str) -> None:
    slug = f"{ASSIGNMENT}/{exercise}"
    right, _ = loader.sample_answers(REFERENCES.folder, slug)
    text = text_of(slug, seen(exercise)[0])
    message = trials(ASSIGNMENT).run({right[0].cell: text}, only=[exercise]).visible[exercise]
    assert message.startswith(f"CheckFailed: {exercise}: ")
    assert len(message.splitlines()) >= 2, "expected and came, each on its own line"


def test_a_stub_is_told_that_it_is_not_filled_in_yet() -> None:
    class Stub(nn.Module):
        def __init__(self, *_: object, **__: object) -> None:
            super().__init__()

        def calculate_score(self, *_: object) -> None:
            raise NotImplementedError

    with pytest.raises(CheckFailed, match="not filled in yet"):
        check.attention_scores(Stub)


def test_an_instance_in_place_of_the_class_is_explained() -> None:
    with pytest.raises(CheckFailed, match="without brackets"):
        check.classifier_forward(None)


@pytest.mark.parametrize("name", ["scores", "output", "dropout", "heads", "mask"])
def test_a_check_leaves_the_notebooks_random_numbers_alone(name: str) -> None:
    space: dict[str, object] = {}
    exec(f"import math, torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
         f"{solution(ASSIGNMENT, '1_queries_keys_values', 'dot_product_attention_answer')}", space)  # fmt: skip
    torch.manual_seed(3)
    want = torch.rand(4)
    torch.manual_seed(3)
    getattr(check, f"attention_{name}")(space["DotProductAttention"])
    assert torch.equal(torch.rand(4), want)


def solution_lines() -> set[str]:
    """What stands between the solution markers, without the comments that give shapes."""
    lines: set[str] = set()
    for notebook in assignment(ASSIGNMENT).source.values():
        for cell in notebook.cells:
            if cell.cell_type == "code":
                for region in re.findall(r"### BEGIN SOLUTION(.*?)### END SOLUTION", cell.source, re.DOTALL):
                    lines |= {re.sub(r"  +#.*", "", line).strip() for line in region.splitlines()}
    return {line for line in lines if len(line) > 20}


def test_neither_a_check_nor_a_ready_made_part_holds_a_solution_line() -> None:
    folder = Path(check.__file__).parent
    held = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py")) + inspect.getsource(
        tutorial_parts
    )
    assert len(solution_lines()) > 20
    assert {line for line in solution_lines() if line in held} == set()


def test_ready_made_parts_have_the_shapes_and_ignore_padding() -> None:
    torch.manual_seed(0)
    x, mask = torch.randn(2, 5, 6), torch.arange(5) < torch.tensor([[5], [3]])
    for part in (tutorial_parts.ReadySelfAttention(6, heads=4), tutorial_parts.ReadyTransformerBlock(6, 4)):
        part.eval()
        out = part(x, mask)
        assert out.shape == x.shape
        assert torch.allclose(out[1, :3], part(x[1:, :3], mask[1:, :3])[0], atol=1e-5)
    assert tutorial_parts.ReadyPositions(6)(x).shape == x.shape
    check.mean_pooling(tutorial_parts.ready_mean_pooling)
