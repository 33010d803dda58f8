"""The catalogues of known mistakes: each is told from the right answer, and from every other, on the stored cases."""

import subprocess
import sys
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from autograder.exercise import TEXT, Answers, Case, Exercise, Judgement, Mistake, compare_case
from autograder.model.course import Course
from autograder.references import loader
from tests.grading import REFERENCES, ROOT

Arrays = Mapping[str, np.ndarray]

ASSIGNMENTS = Course(ROOT).assignments()
SLUGS = [slug for assignment in ASSIGNMENTS for slug in REFERENCES.exercises(assignment)]
#: A right answer to these holds more than the arrays that are expected, or other ones; their sample answers test that.
MORE_THAN_EXPECTED = {
    "decoder/grouped_query_attention",
    "decoder/knock_out",
    "decoder/modern_block",
    "decoder/patch",
    "decoder/swiglu",
    "distilbert/figure",
    "distilbert_lab/adamw_step",  # float64 throughout
    "encoder_lab/classification_head",
    "numpy_attention/written_tests",
    "transformer_tutorial/attention_dropout",
    "transformer_tutorial/classifier_padding",
    "transformer_tutorial/bank_reading",  # the context is the student's own
}
#: Mistakes that have another name too, on cases where the other one is what matters.
ALSO_CALLED = {
    ("distilbert/classifier", "M15-end"): {"M15-late"},  # where all logits are below 0
    ("distilbert/position_ids", "POS-zero"): {"POS-batch"},  # in a batch of one
    ("distilbert_lab/student_from", "ST-next"): {"ST-first"},  # where the layers asked for are the first ones
    ("encoder_lab/attention_weights", "M1-exp"): {"M1-overflow"},
    ("encoder_lab/attention_scores", "M3-batch"): {"M2", "M3"},  # in a batch of one, or of the square of d
    ("encoder_lab/embeddings", "M11-zero"): {"M11-batch"},  # in a batch of one
    ("encoder_lab/head_attention", "M3-batch"): {"M2"},
    ("encoder_lab/masked_attention", "M3-batch"): {"M2"},
    ("encoder_lab/multi_head_attention", "M6-batch"): {"M6"},
    ("encoder_lab/scaled_dot_product_attention", "M3-batch"): {"M2"},
    ("transformer_tutorial/positional_forward", "M11-batch"): {"M11-same"},
    ("encoder_lab/masked_attention", "M3-queries"): {"M3-keys"},  # where there are as many queries as keys
    ("encoder_lab/sentence_b_start", "start-second"): {"start-next"},  # where it is longer by one
    ("encoder_lab/sentence_b_start", "start-words"): {"start-second"},  # where it is shorter by two
    ("decoder/encode", "BPE-longest"): {"BPE-rank"},  # in the words of the small case
    ("decoder/top_k", "TOPK-softmax-zero"): {"TOPK-softmax"},  # where no word is removed
    ("decoder/top_k", "TOPK-order"): {"TOPK-first"},  # where the likeliest word alone is left
    ("decoder/top_k", "TOPK-none"): {"TOPK-batch"},  # where the least of all thresholds removes nothing
    ("decoder/top_p", "TOPP-empty"): {"TOPP-crossing"},  # where two words or more are left
    ("decoder/top_p", "TOPP-places"): {"TOPP-unsorted"},  # where the words left are the first ones
    ("decoder/top_p", "TOPP-unsorted"): {"TOPP-least"},  # where the likeliest words stand last
    ("decoder/top_p", "TOPP-order"): {"TOPP-unsorted"},
    ("decoder/top_p", "TOPP-none"): {"TOPP-least"},  # where p is above all sums from below
    ("decoder/cache_memory", "K3-tokens"): {"K3-batch"},  # in a case where both give the same number
    ("decoder/generate", "GEN-greedy"): {"GEN-place"},  # where the word before decides, too
    ("decoder/generate", "GEN-place"): {"GEN-head", "GEN-one"},  # where the word before decides
    ("decoder/generate", "GEN-total"): {"GEN-no-end"},  # where one word is missing
    ("decoder/generate", "GEN-prompt"): {"GEN-begin", "GEN-total"},  # where they write nothing either
}


def by_numbers(mistake: Mistake) -> bool:
    return bool(mistake.patches and mistake.id and not mistake.by_rule)


def as_expected(slug: str) -> bool:
    """True where answers are handed over under the names of what is expected, and not once for each stand-in."""
    return not any("/" in name for case in REFERENCES.cases(slug) for name in case.expected)


WITH_ANSWERS = [
    slug for slug in SLUGS if any(map(by_numbers, REFERENCES.exercise(slug).mistakes)) and as_expected(slug)
]


def made(slug: str) -> Iterator[tuple[Mistake, Case, Arrays]]:
    """(mistake, case, what somebody who makes it hands over in place of the right answer) for every stored case"""
    for case in REFERENCES.cases(slug):
        for mistake in filter(by_numbers, REFERENCES.exercise(slug).mistakes):
            yield mistake, case, REFERENCES.exercise(slug).made_by(mistake, case)


def judged(exercise: Exercise, case: Case, arrays: Arrays) -> Judgement:
    """A solution's numbers are float32 where the oracle's are float64."""
    single = {name: array.astype(np.float32) if array.dtype == np.float64 else array for name, array in arrays.items()}
    given = single if exercise.framework == "torch" else arrays
    return (exercise.rule or compare_case)(exercise, case, Answers(given))


def distance(got: Arrays, want: Arrays, exercise: Exercise) -> float:
    """How many tolerances apart the two are; infinite where shapes or texts differ, or a number is not finite."""
    worst = 0.0
    for name in want.keys() & got.keys():
        if name.startswith(TEXT) or got[name].shape != want[name].shape:
            worst = max(worst, 0.0 if np.array_equal(got[name], want[name]) else np.inf)
        elif not np.isfinite(got[name]).all():
            worst = np.inf
        else:
            allowed = exercise.atol + exercise.rtol * np.abs(want[name])
            apart = np.abs(got[name].astype(float) - want[name].astype(float))
            worst = max(worst, float((apart / allowed).max(initial=0.0)))
    return worst


@pytest.mark.parametrize("slug", WITH_ANSWERS)
def test_every_known_mistake_is_ten_tolerances_from_the_right_answer(slug: str) -> None:
    exercise = REFERENCES.exercise(slug)
    largest: dict[str, float] = {}
    for mistake, case, wrong in made(slug):
        if not wrong or wrong.keys() & case.expected.keys():  # what is not expected cannot be measured, only judged
            largest[mistake.id] = max(largest.get(mistake.id, 0.0), distance(wrong, case.expected, exercise))
    assert {id: apart for id, apart in largest.items() if apart < 10} == {}


@pytest.mark.slow
@pytest.mark.parametrize("slug", WITH_ANSWERS)
def test_every_known_mistake_is_called_by_its_own_name_and_by_no_other(slug: str) -> None:
    exercise = REFERENCES.exercise(slug)
    called: dict[str, set[str]] = {mistake.id: set() for mistake, _, _ in made(slug)}
    for mistake, case, wrong in made(slug):
        checks = judged(exercise, case, {**case.expected, **wrong}).checks
        called[mistake.id] |= {check.mistake or check.name for check in checks if not check.passed}
    assert all(id in names and names <= {id} | ALSO_CALLED.get((slug, id), set()) for id, names in called.items()), (
        called
    )


@pytest.mark.parametrize("slug", [slug for slug in SLUGS if slug not in MORE_THAN_EXPECTED])
def test_the_stored_answer_itself_is_right(slug: str) -> None:
    for case in REFERENCES.cases(slug):
        assert judged(REFERENCES.exercise(slug), case, case.expected).earned == 1


@pytest.mark.parametrize("slug", SLUGS)
def test_every_mistake_that_only_a_rule_recognises_is_made_by_a_sample_answer(slug: str) -> None:
    assignment = slug.partition("/")[0]
    answers = [loader.sample_answers(REFERENCES.folder, one)[1] for one in REFERENCES.exercises(assignment)]
    seen = {answer.mistake for wrong in answers for answer in wrong}
    assert {one.id for one in REFERENCES.exercise(slug).mistakes if one.id and not by_numbers(one)} <= seen


def test_judging_imports_neither_torch_nor_transformers() -> None:
    code = (
        "from autograder.pipeline import judge\nfrom tests.grading import REFERENCES\nimport sys\n"
        f"for assignment in {ASSIGNMENTS}:\n"
        "    REFERENCES.exercises(assignment)\n"
        "    found = [name for name in ('torch', 'transformers', 'tokenizers') if name in sys.modules]\n"
        "    assert not found, f'the oracles of {assignment} import {found}'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("slug", [slug for slug in SLUGS if REFERENCES.exercise(slug).axes])
def test_every_axis_of_an_answer_has_its_name(slug: str) -> None:
    axes = REFERENCES.exercise(slug).axes
    named = {
        (name, key, array.ndim)
        for case in REFERENCES.cases(slug)
        for name, array in case.expected.items()
        for key in axes
        if key in (name, name.rpartition("/")[2])
    }
    assert {key for _, key, _ in named} == set(axes), "an answer of this name is expected"
    assert [key for _, key, count in named if len(axes[key].split(", ")) != count] == []
