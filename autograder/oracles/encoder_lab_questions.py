"""Questions with fixed answers: kinds of positions, the decoder's parts, and the patterns of stored attentions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from safetensors.numpy import load

from autograder.exercise import TEXT, Answers, Case, Check, Exercise, Judgement, Rule, text_array
from course.tokenizer import load_tokenizer

Array = np.ndarray


@dataclass(frozen=True)
class Question:
    """One statement: the right answer, and for each other one why it is not."""

    about: str
    right: str
    reasons: Mapping[str, str]


def choices(questions: Sequence[Question]) -> Rule:
    """All answers right, or no points; a wrong one is answered with its reason."""

    def rule(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        given = answers.text("choices")
        if not isinstance(given, list) or len(given) != len(questions):
            return Judgement(
                [Check("choices", False, f"Expected a list of {len(questions)} answers.", "One for each statement.")]
            )
        return Judgement([_judge(i, question, given[i - 1]) for i, question in enumerate(questions, start=1)])

    return rule


def _judge(number: int, question: Question, given: object) -> Check:
    answer = str(given).strip().lower()
    if answer == question.right:
        return Check(f"statement {number}", True)
    reason = question.reasons.get(answer, f"{answer!r:.40} is none of the answers to choose from.")
    return Check(f"statement {number}", False, f"Statement {number} ({question.about}): {reason}")


def _exercise(slug: str, questions: Sequence[Question]) -> Exercise:
    def make(generator: np.random.Generator) -> list[Case]:
        return [Case(expected={TEXT + "choices": text_array([question.right for question in questions])})]

    return Exercise(make, choices(questions), framework="torch", slug=slug)


# --- positions --------------------------------------------------------------------------------------------------------

POSITIONS = [
    Question(
        "a table of vectors, trained with the rest",
        "learned",
        {
            "sinusoidal": "sines and cosines are computed; nothing in them is trained.",
            "relative": "relative positions have no vector for a place, only something for a distance between two.",
        },
    ),
    Question(
        "the same pattern before and after training",
        "sinusoidal",
        {
            "learned": "a learned table begins with random numbers and is changed by training.",
            "relative": "here the attention itself is changed, with numbers of its own for the distances.",
        },
    ),
    Question(
        "what counts is how far two tokens are apart; the attention scores are changed",
        "relative",
        {
            "learned": "a learned vector belongs to one place and is added to the word, before any attention.",
            "sinusoidal": "the pattern belongs to one place and is added to the word, before any attention.",
        },
    ),
    Question(
        "no vector at all for a place beyond the longest sentence",
        "learned",
        {
            "sinusoidal": "a formula can be evaluated at any place.",
            "relative": "two neighbours are one apart, however far behind they stand.",
        },
    ),
]

# --- the decoder ------------------------------------------------------------------------------------------------------

DECODER = [
    Question(
        "queries of the masked self-attention",
        "decoder",
        {"encoder": "this sublayer is the decoder's look at its own tokens; the other sequence comes in later."},
    ),
    Question(
        "keys and values of the masked self-attention",
        "decoder",
        {"encoder": "it is self-attention: queries, keys and values are of one sequence."},
    ),
    Question(
        "queries of the encoder-decoder attention",
        "decoder",
        {"encoder": "it is the sentence being written that has questions to the one that was read."},
    ),
    Question(
        "keys and values of the encoder-decoder attention",
        "encoder",
        {"decoder": "then the sentence that was read would reach the decoder nowhere."},
    ),
    Question(
        "the side that needs no causal mask",
        "encoder",
        {"decoder": "it writes token after token, and in training must not see those to come."},
    ),
]

# --- heads of the stored attentions -----------------------------------------------------------------------------------

PAIR = ("time flies like an arrow", "fruit flies like a banana")
#: (layer, head) of the statements about heads, in order.
HEADS = [(0, 5), (1, 8), (1, 1), (0, 2)]
SURVIVORS = [(1, 1), (0, 2)]


def stored(name: str) -> Array:
    """A tensor of ``course/data/encoder_lab/attentions.safetensors``, say attentions (layers, heads, tokens, tokens)"""
    data = (files("course") / "data" / "encoder_lab" / "attentions.safetensors").read_bytes()
    return load(data)[name].astype(np.float64)


def stored_tokens() -> list[str]:
    tokenizer = load_tokenizer()
    return list(tokenizer.convert_ids_to_tokens(tokenizer(*PAIR)["input_ids"]))


def patterns(attentions: Array, tokens: Sequence[str]) -> dict[str, Array]:
    """How much of each head's weight, on average, goes where: name -> (layers, heads)"""
    n = len(tokens)
    same = [(i, j) for i in range(n) for j in range(n) if i != j and tokens[i] == tokens[j] and tokens[i] != "[SEP]"]
    return {
        "previous": attentions[..., range(1, n), range(n - 1)].mean(-1),
        "next": attentions[..., range(n - 1), range(1, n)].mean(-1),
        "same word": attentions[..., [i for i, _ in same], [j for _, j in same]].mean(-1),
        "separator": attentions[..., [i for i, token in enumerate(tokens) if token == "[SEP]"]].sum(-1).mean(-1),
    }


def _readings() -> list[Question]:
    tokens = stored_tokens()
    with_positions = patterns(stored("attentions"), tokens)
    without = patterns(stored("attentions_without_positions"), tokens)
    questions = []
    for head in HEADS:
        right = max(with_positions, key=lambda name: with_positions[name][head])
        questions.append(
            Question(
                f"layer {head[0]}, head {head[1]}",
                right,
                {
                    name: f"only {weights[head]:.2f} of its weight goes there on average."
                    for name, weights in with_positions.items()
                    if name != right
                },
            )
        )
    for head in SURVIVORS:
        name = max(with_positions, key=lambda name: with_positions[name][head])
        kept = without[name][head] >= with_positions[name][head] / 2
        reason = (
            f"with positions the average is {with_positions[name][head]:.2f}, without them {without[name][head]:.2f}."
        )
        questions.append(
            Question(
                f"layer {head[0]}, head {head[1]}, without positions",
                "kept" if kept else "lost",
                {"lost" if kept else "kept": reason},
            )
        )
    return questions


def _judge_readings(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    return choices(_readings())(exercise, case, answers)


def _make_readings(generator: np.random.Generator) -> list[Case]:
    return [Case(expected={TEXT + "choices": text_array([question.right for question in _readings()])})]


EXERCISES = [
    _exercise("encoder_lab/position_kinds", POSITIONS),
    _exercise("encoder_lab/decoder_parts", DECODER),
    Exercise(_make_readings, _judge_readings, framework="torch", slug="encoder_lab/readings"),
]
