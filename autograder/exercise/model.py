"""What an exercise is: how its cases are drawn, how an answer is judged, and which mistakes have a name.

The expected answers come from an independent oracle, never from the course's own solution, so that the solution is
tested as well.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import dedent, indent
from typing import Any, Protocol

import numpy as np

from .values import MAX_ENTRIES, TEXT, as_arrays, comes_back, is_plain, read_text

#: What :class:`Case` takes.
TAKES = f"a case takes arrays, numbers, texts, lists of texts, and dictionaries of up to {MAX_ENTRIES} of these"

#: (old, new): what somebody who makes a mistake writes in place of some words of the solution. Or, in a module,
#: ((class, method), statements): what stands in a method's body, below its docstring or ``super().__init__()``.
Patch = tuple[str | tuple[str, str], str]


@dataclass(frozen=True)
class SampleAnswer:
    """One right or wrong way to do an exercise.

    name: what is special about it; unique within the exercise.
    text: the whole answer (a cell or a file), or
    changes: (old, new) replacements in the instructor's solution, or
    methods: (class, method) -> the statements that replace that method's body in the instructor's solution.
    cells: other solution cells and files (by grade id or file name) that belong to the same answer, whole.
    points: what is left of the exercise's own points; None stands for all of them, as every right answer must have.
    share: the same as a share of the points, in place of ``points``.
    also_costs: points left of other graded cells, where the answer must lose some there too; all others lose nothing.
    mistake: the id that feedback must name; empty where the mistake has no name.
    passes_check: True where the visible check cannot see the mistake.
    cell: the solution cell or file; default ``Exercise.cell``, else ``<exercise>_answer``.
    """

    name: str = ""
    text: str = ""
    changes: tuple[tuple[str, str], ...] = ()
    methods: Mapping[tuple[str, str], str] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)
    points: float | None = None
    also_costs: Mapping[str, float] = field(default_factory=dict)
    mistake: str = ""
    passes_check: bool = False
    cell: str = ""
    share: float | None = None

    def __str__(self) -> str:
        return self.name


def variant(head: str, body: str) -> str:
    """The text of an answer: ``head`` (its last line ends in a colon), and below it the body, in any indentation."""
    deepest = head.split("\n")[-1]
    margin = len(deepest) - len(deepest.lstrip()) + 4
    return f"{head}\n{indent(dedent(body).strip(), ' ' * margin)}\n"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. ``mistake`` is the catalogue's id where the mistake is known."""

    name: str
    passed: bool
    message: str = ""
    hint: str = ""
    mistake: str = ""


class Earned(Protocol):
    """The verdict on an earlier exercise, as far as rules ask for it."""

    @property
    def points(self) -> float | None: ...
    @property
    def max_points(self) -> float: ...


@dataclass(frozen=True)
class Case:
    """One stored case. ``inputs`` and ``weights`` go to the kernel, ``expected`` and ``mistakes`` never do.

    mistakes: key of a mistake (see :meth:`Exercise.patched`) -> what the solution with its patches hands over.
    Inputs and expected answers may be given as arrays, numbers, texts, lists of texts, and dictionaries of these.
    Inputs that are no arrays are kept in ``texts``, expected answers as
    :func:`~autograder.exercise.values.as_arrays` says. Raises TypeError for anything else.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, np.ndarray] = field(default_factory=dict)
    texts: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)
    mistakes: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plain = {name: value for name, value in self.inputs.items() if is_plain(value)}
        for name in (name for name, value in plain.items() if not comes_back(value)):
            raise TypeError(
                f"inputs[{name!r}] would come back from its file as something else: give lists and dictionaries of "
                "numbers and texts, with texts as keys"
            )
        arrays = {name: value for name, value in self.inputs.items() if name not in plain}
        object.__setattr__(self, "texts", {**self.texts, **plain})
        object.__setattr__(self, "inputs", _stored("inputs", arrays))
        object.__setattr__(self, "expected", _stored("expected", self.expected))


def _stored(kind: str, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    stored: dict[str, np.ndarray] = {}
    for name, value in given.items():
        try:
            stored |= {name: value} if name.startswith(TEXT) else as_arrays(name, value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{kind}[{name!r}] is {type(value).__name__}; {TAKES}") from error
    return stored


@dataclass(frozen=True)
class MistakenAnswers(Mapping[str, Mapping[str, np.ndarray]]):
    """For :attr:`Case.mistakes`: answers that are made only when a rule looks at them, because an answer is wrong.

    by_mistake: key of a mistake -> what ``made`` makes its answers of
    """

    by_mistake: Mapping[str, Any]
    made: Callable[[Any], Mapping[str, np.ndarray]]

    def __getitem__(self, key: str) -> Mapping[str, np.ndarray]:
        return self.made(self.by_mistake[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_mistake)

    def __len__(self) -> int:
        return len(self.by_mistake)


@dataclass(frozen=True)
class Answers:
    """What a submission handed over for one case (untrusted, bounded in size).

    ``source`` is the text of the student's solution cells of the notebook, for checks on style. ``earlier`` holds the
    verdicts on the exercises before this one, by slug, in this notebook and in those before it. A rule that does not
    charge one mistake twice asks them what was charged; the numbers of a submission are no evidence of that.
    """

    arrays: Mapping[str, np.ndarray]
    source: str = ""
    earlier: Mapping[str, Earned] = field(default_factory=dict)

    def text(self, name: str) -> Any | None:
        """The text or list of texts called ``name``; None where there is none that can be read."""
        return read_text(self.arrays.get(TEXT + name))

    def charged(self, *slugs: str) -> bool:
        """True where one of these exercises was judged before, and lost points."""
        found = [self.earlier[slug] for slug in slugs if slug in self.earlier]
        return any(verdict.points is not None and verdict.points < verdict.max_points for verdict in found)


@dataclass(frozen=True)
class Judgement:
    """The checks of one case, and the share of the cell's points that they earn (None: all or nothing)."""

    checks: Sequence[Check]
    share: float | None = None

    @property
    def earned(self) -> float:
        if self.share is not None:
            return self.share
        return float(all(check.passed for check in self.checks))


@dataclass(frozen=True, init=False)
class Mistake:
    """A known wrong answer: how feedback describes it, and how it is recognised.

    patches: ``(old, new)`` replacements in the solution, or the whole text of the answer. ``autograder references``
    runs the changed solution once per case and stores what it hands over; the judge compares with that. The same text
    is a sample answer. Without an id the mistake has no name: a wrong answer to try the exercise with.
    by_rule: True where the exercise's rule recognises the mistake, not its numbers.
    share: the share of the points that is left where this is the only mistake (partial credit).
    also_costs: other exercises that these patches cost points -> what is left of them.
    passes_check: True where the visible check cannot see the mistake, as where it looks at the form of a choice alone.
    """

    id: str
    message: str
    hint: str
    patches: tuple[Patch | str, ...]
    share: float
    by_rule: bool
    also_costs: Mapping[str, float]
    passes_check: bool

    def __init__(
        self,
        id: str,
        message: str,
        hint: str = "",
        *how: Patch | str,
        patches: Sequence[Patch | str] = (),
        share: float = 0.0,
        by_rule: bool = False,
        also_costs: Mapping[str, float] | None = None,
        passes_check: bool = False,
    ) -> None:
        """how: the first of the patches."""
        for name, value in {
            "id": id, "message": message, "hint": hint, "patches": (*how, *patches), "share": share,
            "by_rule": by_rule, "also_costs": also_costs or {}, "passes_check": passes_check,
        }.items():  # fmt: skip
            object.__setattr__(self, name, value)

    def by(self, *patches: Patch | str) -> "Mistake":
        """The same mistake, which the exercise's rule recognises, as these patches make it."""
        return replace(self, patches=patches, by_rule=True)

    def check(self, **values: object) -> Check:
        """The failed check that names this mistake. ``values`` fill the placeholders ``{name}`` of the message."""
        return Check(self.id, False, self.message.format(**values) if values else self.message, self.hint, self.id)

    def judgement(self, *others: Check, **values: object) -> Judgement:
        """The judgement on an answer with this mistake; ``values`` as for :meth:`check`."""
        return Judgement([self.check(**values), *others], self.share)


@dataclass(frozen=True)
class ChoiceQuestion:
    """A question with choices, for the rules of :mod:`autograder.exercise.rules`.

    answer: name under which the choice is handed over; where several questions have one name, a list is, an entry for
    each of them.
    label: what feedback calls it.
    right: the choices that are right, in small letters.
    wrong: other choice -> the id of the mistake, or what is said of it.
    otherwise: what is said of everything else, with ``{chosen}`` in the place of it; hint: where to look then.
    in_words: the choice may be one word of a text: the first that is known counts, one that is wrong before others.
    """

    answer: str
    label: str
    right: Sequence[str]
    wrong: Mapping[str, str]
    otherwise: str
    hint: str = ""
    in_words: bool = False


Rule = Callable[["Exercise", Case, Answers], Judgement]


@dataclass(frozen=True)
class Exercise:
    """One exercise. ``make`` draws the cases from a seeded generator; ``rule`` judges one case (default: compare).

    mistakes: every known mistake that feedback on this exercise may name, in order of precedence.
    framework: ``torch`` or ``numpy``, what the stored arrays become in the notebook.
    atol, rtol: tolerances as in ``numpy.isclose``.
    method, given: where the exercise is a method of a class, or a function, its name and those of the inputs, in its
    own order: then the answer has the exercise's name. Without ``given``, the course's ``calls`` say how it is called.
    parts: of a whole, with the rule ``whole``: the exercises of the same assignment that it is made of. Where it calls
    them by names of their own, as a function calls earlier ones: exercise -> that name.
    axes: name of an answer (or what follows its last /) -> the names of its axes, as in ``batch, tokens, dim``, for
    messages on wrong shapes.
    questions: of an exercise in which answers are chosen; its rule is ``choices`` or ``all_choices``.
    slug: ``<assignment>/<exercise>``; the loader sets it from where the exercise lies.

    right: name -> a right answer in another style, as the whole text of the solution's cell, or as patches; or as a
    SampleAnswer, where it fills other cells too, or costs points elsewhere.
    wrong: wrong answers beside those that the mistakes' patches make.
    accepted: mutants of the solution that may pass: id of one, or name of an operator -> the reason.
    cell: the solution cell or file; default ``<exercise>_answer``.
    shows: what the visible check says that it found right. Where it is given, ``autograder references`` packs public
    cases for it, and the visible check judges them by this exercise's rule.
    """

    make: Callable[[np.random.Generator], Sequence[Case]]
    rule: Rule | None = None
    mistakes: Sequence[Mistake] = ()
    framework: str = "numpy"
    atol: float = 1e-5
    rtol: float = 1e-4
    slug: str = ""
    right: Mapping[str, str | Sequence[Patch] | SampleAnswer] = field(default_factory=dict)
    wrong: Sequence[SampleAnswer] = ()
    accepted: Mapping[str, str] = field(default_factory=dict)
    cell: str = ""
    shows: Sequence[str] = ()
    axes: Mapping[str, str] = field(default_factory=dict)
    questions: Sequence[ChoiceQuestion] = ()
    method: str = ""
    given: Sequence[str] = ()
    parts: Sequence[str] | Mapping[str, str] = ()

    @property
    def slugs_of_parts(self) -> list[str]:
        return [f"{self.slug.partition('/')[0]}/{name}" for name in self.parts]

    @property
    def call(self) -> list[str]:
        """The method and its inputs, as stored with the cases; empty where a function of the library calls it."""
        return [self.method, *self.given] if self.given else []

    def patched(self) -> Iterator[tuple[str, Mistake]]:
        """(key, mistake) for every mistake that is made of patches: its id, or its message where it has none.

        The second mistake of an id has a number after it: several ways lead to one name.
        """
        keys: list[str] = []
        for mistake in (one for one in self.mistakes if one.patches):
            key = mistake.id or mistake.message
            keys.append(key)
            yield (key if keys.count(key) == 1 else f"{key} {keys.count(key)}"), mistake

    def made_by(self, mistake: Mistake, case: Case) -> Mapping[str, np.ndarray]:
        """What somebody who makes this mistake hands over for a case; empty where numbers do not show it."""
        key = next((key for key, patched in self.patched() if patched is mistake), "")
        return case.mistakes.get(key, {})

    def mistake(self, id: str) -> Mistake:
        """The mistake of the catalogue with this id. Raises KeyError where there is none."""
        for mistake in self.mistakes:
            if mistake.id == id:
                return mistake
        raise KeyError(f"{self.slug} has no mistake {id!r} in its catalogue: add it to Exercise.mistakes")
