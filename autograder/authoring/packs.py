"""What ``autograder references`` writes into the course's library: packs of public cases, and where the rules are.

Both lie in the package that course.toml names under ``checks``. Public cases are drawn from a seed of their own, which
everybody knows; another exam changes none of them.

The solution with the patches of its known mistakes is run on the same cases.
"""

import io
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from autograder import exercise as interface
from autograder.assignment.assignment import Assignment
from autograder.authoring.notebook_cells import render
from autograder.authoring.trial import Trials, texts_of
from autograder.errors import GradingError
from autograder.exercise.model import Case, Exercise, Patch
from autograder.exercise.pack import about, pack, pack_names, packed, read_pack
from autograder.files.atomic import write_file
from autograder.model.course import Course
from autograder.pipeline.fingerprint import digest
from autograder.references import loader
from autograder.references.draw import DRAWS, VISIBLE_SEED, Ran, RunPatched, draw, needs_runner
from autograder.references.store import References
from autograder.references.write import archive_of, files_of, inputs_among, settled

#: The package of the rules of grading among the visible checks: the grader's own, or, for students, a copy.
RULES = "_rules"
_ORIGINAL = Path(str(interface.__file__)).parent
#: Any seeds: one draw after the other tells whether a case is drawn at all.
_OTHER_SEEDS = range(10)


def write_library(course: Course, assignment: str, run: RunPatched | None, only: Collection[str] = ()) -> list[Path]:
    """Write the packs of an assignment and the rules that they need; returns what has changed.

    What of a pack agrees with the new one within rounding stays. only: the packs of other exercises stay as they are.
    Raises GradingError for an exercise that cannot have one.
    """
    references = References.of_course(course.root)
    packs = {slug: made for slug, made in references.exercises(assignment).items() if made.shows}
    if not packs:
        return []
    archive = references.packs(assignment)
    checks = archive.parents[1]
    _require_moved(course, assignment, checks)
    before = {name: read_pack(archive, name) for name in pack_names(archive)}
    members: dict[str, bytes] = {}
    for slug, made in packs.items():
        name = slug.partition("/")[2]
        old = before.get(name)
        fresh = old if only and name not in only else _settled(made, old, _packed(references, made, run))
        if fresh is not None:
            members[f"{name}.npz"] = fresh
    files = {checks / RULES / "__init__.py": render("exercise/rules_package.py.j2").encode(),
             archive: archive_of(members)}  # fmt: skip
    changed = [path for path, data in files.items() if not path.is_file() or path.read_bytes() != data]
    for path in changed:
        write_file(path, files[path])
    return sorted(changed)


def _require_moved(course: Course, assignment: str, checks: Path) -> None:
    """Raises GradingError where an assignment's own rules lie where older graders took a copy of them from."""
    old = course.root / loader.FOLDER / assignment / f"{RULES}.py"
    if old.is_file():
        raise GradingError(
            f"{old} belongs into the library, where the visible checks need it: move it to "
            f"{checks / assignment / old.name}, with 'from .._rules import' in the place of 'from autograder.exercise "
            "import'"
        )


def copy_rules(checks: Path) -> None:
    """Put a copy of the rules into a package of visible checks that has none, for where no grader is installed."""
    for path in _ORIGINAL.glob("[!_]*.py") if (checks / RULES).is_dir() else ():
        shutil.copyfile(path, checks / RULES / path.name)


def _packed(references: References, made: Exercise, run: RunPatched | None) -> bytes:
    cases = draw(made, VISIBLE_SEED, run)
    _require_drawn(made, cases)
    return pack(made, loader.rule_name(references.folder, made), cases, run.digest(made) if run else "")


def _require_drawn(made: Exercise, cases: list[Case]) -> None:
    """Raises GradingError where a pack would give every hidden answer away, because the cases are always the same.

    Small cases (a size, a mask) may well be the hidden ones by chance: that gives nothing away.
    """
    others = (case for seed in _OTHER_SEEDS for case in draw(made, seed))
    if all(any(_same(case, one) for one in cases) for case in others):
        raise GradingError(
            f"{made.slug}: its public cases hold every hidden answer, because nothing in them is drawn; write its "
            "visible check by hand (leave Exercise.shows out)"
        )


def _same(first: Case, second: Case) -> bool:
    if (first.config, first.texts) != (second.config, second.texts):
        return False
    arrays = ((getattr(first, part), getattr(second, part)) for part in ("inputs", "weights", "expected"))
    return all(mine.keys() == other.keys() and all(np.array_equal(mine[key], other[key]) for key in mine)
               for mine, other in arrays)  # fmt: skip


def stale_pack(course: Course, slug: str, run: RunPatched) -> list[str]:
    """What is wrong where the visible check judges by other cases, mistakes or settings than the exercise has now."""
    references = References.of_course(course.root)
    made = references.exercises(slug.partition("/")[0]).get(slug)
    if made is None or not made.shows:
        return []
    try:
        stored, rule = about(references.pack(slug)), loader.rule_name(references.folder, made)
        digest = run.digest(made)
        for skip in range(DRAWS):  # which draws hid a mistake by chance, only the patched solutions would tell
            if about(pack(made, rule, draw(made, VISIBLE_SEED, skip=skip), digest)) == stored:
                return []
    except (OSError, KeyError, GradingError):  # there is none; or a patch fits no longer, as the sample answers say
        pass
    return ["the pack of its visible check was made of another state of the exercise, or is missing"]


def _settled(made: Exercise, old: bytes | None, fresh: bytes) -> bytes:
    """The fresh pack, in which every array that says the same as the old one, but for last digits, is that one."""
    if old is None:
        return fresh
    with np.load(io.BytesIO(old)) as before, np.load(io.BytesIO(fresh)) as drawn:
        return packed(settled(before, drawn, (made.atol / 10, made.rtol / 10)))


class PatchedSolutions:
    """Runs the real cells of an assignment, as :class:`Trials` does."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials

    def __call__(
        self, made: Exercise, cases: Sequence[Case], patches: Mapping[str, Sequence[Patch | str]]
    ) -> dict[str, Ran]:
        texts = {key: self._texts(made, key, changes) if changes else {} for key, changes in patches.items()}
        inputs = inputs_among(files_of(made, cases))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            tried = pool.map(lambda text: self._trials.handed_over(text, made.slug, inputs), texts.values())
            return {
                key: Ran([arrays.get(index, {}) for index in range(len(cases))], stopped)
                for key, (arrays, stopped) in zip(texts, tried, strict=True)
            }

    def digest(self, made: Exercise) -> str:
        texts = {key: self._texts(made, key, mistake.patches) for key, mistake in made.patched()}
        return digest(self._trials.sources(made.slug), texts)

    def _texts(self, made: Exercise, key: str, patches: Sequence[Patch | str]) -> dict[str, str]:
        answer = loader.sample(key, patches)
        cell = made.cell or f"{made.slug.partition('/')[2]}_answer"
        try:
            return texts_of(replace(answer, cell=cell), self._trials.solutions)
        except GradingError as error:
            raise GradingError(f"{made.slug}: {error}") from error


@contextmanager
def patched_solutions(course: Course, assignment: str) -> Iterator[PatchedSolutions | None]:
    """What runs the solutions of an assignment; None where its notebooks are still in the making, and need not run."""
    try:
        opened = Assignment.unreleased(course, assignment)
    except GradingError:
        if any(map(needs_runner, References.of_course(course.root).exercises(assignment).values())):
            raise
        yield None
        return
    with Trials(opened) as trials:
        yield PatchedSolutions(trials)


def stale_numbers(trials: Trials, slug: str) -> list[str]:
    """What is wrong where the stored numbers of mistakes were made of another solution, or of other patches."""
    references = trials.assignment.references
    made = references.exercises(trials.assignment.name).get(slug)
    try:
        stale = (
            made is not None
            and needs_runner(made)
            and PatchedSolutions(trials).digest(made) != references.patched(slug)
        )
    except GradingError:  # a patch that fits no longer: the sample answer says so
        stale = True
    return ["the numbers of its mistakes were made of another solution or of other patches"] if stale else []
