"""What became of a mutant: who rejected it and in which words, or why nobody did."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from autograder.authoring.trial import Tried
from autograder.exercise.compare import NO_MORE
from autograder.model.verdict import CellVerdict

#: ``named``: feedback names a mistake of the catalogue. ``property``: it says in words what is wrong. ``values``: it
#: says that numbers or texts differ. ``crashed``: the code stopped. ``accepted``: by the author, with a reason.
#: ``message``: only the words of an error are changed. ``looks``: only how a picture looks. ``passed``: no graded cell
#: took points, and nothing is proven yet.
Kind = Literal[
    "named", "property", "values", "crashed", "passed", "survivor", "equivalent", "message", "looks", "accepted"
]
REJECTED: tuple[Kind, ...] = ("named", "property", "values", "crashed")

#: How the judge's messages begin where a cell did not come to its end (``autograder.pipeline.judge``).
CRASHED = ("Your code stopped with", "Your code took too long", "Your code ended the Python process",
           "A name is missing", "This part was not reached", "No answer came from your code")  # fmt: skip
MAX_VISIBLE = 300  # characters of a visible check's words that are kept


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant.

    exercise: the graded cell that took points first. said: what feedback says there; of a survivor or an equivalent
    one, what was compared. mistakes: ids of the mistakes that feedback names. visible: what the visible check of that
    cell says against it (where no cell took points: of the first cell whose check refuses it); empty where it passes.
    ticked: whether that check prints a ✓, as no question with answers to choose from does.
    """

    kind: Kind
    exercise: str = ""
    said: str = ""
    mistakes: tuple[str, ...] = ()
    visible: str = ""
    ticked: bool = False
    seconds: float = 0.0
    lost: dict[str, float] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, stored: dict[str, Any]) -> "Outcome":
        return cls(**{**stored, "mistakes": tuple(stored["mistakes"])})


def graded_outcome(tried: Tried, graded: bool, seconds: float) -> Outcome:
    """The outcome of the graded cells: rejected by the first that took points, or ``passed``.

    graded: False for an exercise without points: there it counts that a cell does not pass.
    """
    lost = [verdict for verdict in tried.verdicts.values() if _took(verdict, graded)]
    if not lost:
        refused = next((said for said in tried.visible.values() if said), "")
        return Outcome("passed", visible=_short(refused), seconds=round(seconds, 2))
    failed = [check for verdict in lost for check in verdict.checks if not check.passed]
    mistakes = tuple(dict.fromkeys(check.mistake for check in failed if check.mistake))
    named = next((check.message for check in failed if check.mistake), "")
    messages = [check.message for check in failed]
    kind: Kind = "named" if mistakes else kind_of(messages)
    points = {verdict.cell: verdict.max_points - (verdict.points or 0.0) for verdict in lost}
    said = named or (messages[0] if messages else lost[0].status)
    seen = _short(tried.visible.get(lost[0].cell, ""))
    return Outcome(kind, lost[0].cell, said, mistakes, seen, lost[0].cell in tried.ticked, round(seconds, 2), points)


def _short(text: str) -> str:
    return text if len(text) <= MAX_VISIBLE else text[: MAX_VISIBLE - 1] + "…"


def _took(verdict: CellVerdict, graded: bool) -> bool:
    if graded:
        return (verdict.points or 0.0) < verdict.max_points
    return verdict.status != "passed"


def kind_of(messages: Iterable[str]) -> Kind:
    """Of messages that name no mistake: the clearest of them counts."""
    kinds: set[Kind] = set()
    for message in messages:
        if message.startswith(CRASHED):
            kinds.add("crashed")
        elif any(words in message for words in NO_MORE):
            kinds.add("values")
        else:
            kinds.add("property")
    return next((kind for kind in REJECTED if kind in kinds), "values")
