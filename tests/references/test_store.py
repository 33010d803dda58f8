"""References belong to a course and to an exercise: nothing else moves them, and a bundle holds its own alone."""

import json
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder import cli
from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.exercise.model import Case, Exercise, Mistake
from autograder.model.course import Course
from autograder.references import loader
from autograder.references.draw import Ran, draw
from autograder.references.store import References
from autograder.references.write import ARRAYS, EXPECTED, Files, read_files, stored_exercises, write_archives
from autograder.release import bundle
from autograder.release.leaks.search import Hidden, found_in
from tests.grading import REFERENCES, ROOT, exercise_module

implementations = exercise_module("numpy_attention/_implementations")
ASSIGNMENT = "toy"


EXERCISE = """
from autograder.exercise import Case, Exercise

def make(generator):
    x = generator.normal(size=(2, 3))
    return [Case(inputs={"x": x}, expected={"y": 2 * x})]

EXERCISE = Exercise(make)
"""


def exercises(folder: Path, *names: str, exercise: str = EXERCISE) -> References:
    """Exercises of the assignment toy in a folder ``exercises/``."""
    for name in names:
        (folder / ASSIGNMENT).mkdir(parents=True, exist_ok=True)
        (folder / ASSIGNMENT / f"{name}.py").write_text(exercise)
    loader.exercises.cache_clear()
    return References(folder)


def bytes_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}


def stored(folder: Path) -> dict[str, Files]:
    return {name: read_files(folder / ASSIGNMENT, name) for name in stored_exercises(folder / ASSIGNMENT)}


@pytest.fixture
def built(tmp_path: Path) -> References:
    """The exercises doubling and weights, drawn from seed 5 into this test's folder."""
    references = exercises(tmp_path, "doubling", "weights")
    assert references.build(ASSIGNMENT, seed=5) == ["doubling", "weights"]
    return references


def changed(folder: Path, name: str, exercise: str) -> None:
    """Another text of an exercise, read anew."""
    exercises(folder, name, exercise=exercise)
    loader.forget()


def course(folder: Path) -> Path:
    (folder / "source" / ASSIGNMENT).mkdir(parents=True)
    (folder / "source" / ASSIGNMENT / "1_toy.ipynb").write_text("{}")
    (folder / "nbgrader_config.py").write_text("c = get_config()\n")
    exercises(folder / "exercises", "doubling", "weights")
    return folder


def test_another_exercise_leaves_the_bytes_of_all_others_alone(built, tmp_path):
    before, old = bytes_below(tmp_path), stored(tmp_path)
    exercises(tmp_path, "a_new_one")
    built.build(ASSIGNMENT, seed=5)
    after = bytes_below(tmp_path)
    changed = {path for path, data in before.items() if after[path] != data}
    assert changed == {"toy/manifest.json", "toy/inputs.zip", "toy/expected.zip"}
    assert {name: stored(tmp_path)[name] for name in old} == old and "a_new_one" in stored(tmp_path)


ROUNDED = EXERCISE.replace("2 * x", "2 * x * (1 + 3e-16)").replace('"x": x}', '"x": x * (1 + 3e-16)}')


def test_files_that_agree_but_for_rounding_stay(built, tmp_path):
    before = bytes_below(tmp_path)
    changed(tmp_path, "doubling", ROUNDED)
    drawn, kept = draw(built.exercise("toy/doubling"), 5), built.cases("toy/doubling")
    assert not np.array_equal(drawn[0].inputs["x"], kept[0].inputs["x"])
    assert built.build(ASSIGNMENT, seed=5) == []
    assert {**bytes_below(tmp_path), "toy/doubling.py": b""} == {**before, "toy/doubling.py": b""}


def test_what_agrees_but_for_rounding_stays_beside_what_does_not(built, tmp_path):
    before = stored(tmp_path)["doubling"]
    changed(tmp_path, "doubling", ROUNDED.replace("2 * x", "3 * x"))
    assert built.build(ASSIGNMENT, seed=5) == ["doubling"]
    after = stored(tmp_path)["doubling"]
    assert after[ARRAYS] == before[ARRAYS] and after[EXPECTED] != before[EXPECTED]


@pytest.mark.parametrize("other", ["3 * x", "2 * x + 1e-7", "2 * x[:1]", "(2 * x).astype('float32')"])
def test_files_that_say_something_else_are_written(built, tmp_path, other):
    changed(tmp_path, "doubling", EXERCISE.replace("2 * x", other))
    assert built.build(ASSIGNMENT, seed=5) == ["doubling"]
    built.cases("toy/doubling")


def test_a_stored_file_that_was_damaged_is_written_anew(built, tmp_path):
    before, damaged = bytes_below(tmp_path), stored(tmp_path)
    damaged["weights"][EXPECTED] = b"damaged"
    write_archives(tmp_path / "toy", damaged)
    assert built.build(ASSIGNMENT, seed=5) == ["weights"]
    assert bytes_below(tmp_path) == before


def test_one_exercise_is_drawn_alone(tmp_path, capsys):
    root = course(tmp_path / "course")
    words = ["--course", str(root), "references", ASSIGNMENT]
    assert cli.main([*words, "--seed", "5"]) == 0
    old = stored(root / "exercises")
    exercises(root / "exercises", "doubling", "weights", exercise=EXERCISE.replace("2 * x", "7 * x"))
    exercises(root / "exercises", "a_new_one")
    loader.forget()
    assert cli.main([*words, "--exercise", "a_new_one"]) == 0
    after = bytes_below(root)
    assert {name: stored(root / "exercises")[name] for name in old} == old
    assert {*stored(root / "exercises")} - {*old} == {"a_new_one"}
    assert [*json.loads(after["exercises/toy/manifest.json"])["exercises"]] == ["a_new_one", "doubling", "weights"]
    assert cli.main([*words, "--exercise", "a_new_one", "--seed", "6"]) == 2
    assert "one seed, 5" in capsys.readouterr().err
    assert cli.main([*words, "--exercise", "a_newone"]) == 2
    assert "toy has a_new_one, doubling, weights" in capsys.readouterr().err


def test_every_exercise_draws_other_numbers_and_every_seed_too_and_they_are_read_anew(built):
    drawn = []
    for seed in (5, 6):
        built.build(ASSIGNMENT, seed)
        cases = [built.cases(f"toy/{name}")[0] for name in ("doubling", "weights")]
        assert all(np.array_equal(case.expected["y"], 2 * case.inputs["x"]) for case in cases)
        drawn += [case.inputs["x"].tobytes() for case in cases]
    assert len(set(drawn)) == 4


def test_two_courses_on_one_machine_have_references_of_their_own(tmp_path, capsys):
    one, two = course(tmp_path / "one"), course(tmp_path / "two")
    assert cli.main(["--course", str(one), "references", ASSIGNMENT, "--seed", "1"]) == 0
    kept = bytes_below(one)
    shipped = bytes_below(ROOT / "exercises")
    assert cli.main(["--course", str(two), "references", ASSIGNMENT, "--seed", "2"]) == 0
    assert bytes_below(one) == kept
    assert bytes_below(ROOT / "exercises") == shipped
    assert References.of_course(one).seed(ASSIGNMENT) == 1
    cases = [References.of_course(root).cases("toy/weights")[0].inputs["x"] for root in (one, two)]
    assert not np.allclose(*cases)
    assert not list((ROOT / "autograder").rglob("expected.zip"))


def test_a_failing_oracle_leaves_the_references_of_before(built, tmp_path):
    exercises(tmp_path, "zero", exercise=EXERCISE.replace("2 * x", "1 / 0"))
    kept = bytes_below(tmp_path)
    with pytest.raises(GradingError, match="toy/zero: its oracle cannot draw cases: ZeroDivisionError"):
        built.build(ASSIGNMENT, seed=2)
    assert bytes_below(tmp_path) == kept


def test_without_names_all_assignments_are_drawn_and_the_kits_seed_is_said(tmp_path, capsys):
    root = course(tmp_path / "course")
    assert cli.main(["--course", str(root), "references", "--seed", "2026"]) == 0
    said = capsys.readouterr()
    assert "2 exercises, 2 cases, seed 2026" in said.out
    assert "everybody can know them" in said.err
    assert cli.main(["--course", str(root), "references", "--seed", "new"]) == 0
    assert capsys.readouterr().err == ""
    seed = References.of_course(root).seed(ASSIGNMENT)
    assert cli.main(["--course", str(root), "references"]) == 0
    assert References.of_course(root).seed(ASSIGNMENT) == seed  # the exam of before, drawn again


def test_all_that_ships_with_the_kit_is_known_to_be_public(tmp_path, capsys):
    shipped = [name for name in Course(ROOT).assignments() if REFERENCES.seed(name) is not None]
    assert "decoder" in shipped
    for name in shipped:
        assert "everybody can know them" in REFERENCES.warning(name)
    for name in shipped:  # whatever seed a manifest gives: known are the files
        manifest = json.loads((ROOT / "exercises" / name / "manifest.json").read_text())
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(json.dumps(manifest | {"seed": 4}))
        assert References(tmp_path).are_public(name)


def test_references_of_an_earlier_term_deserve_a_word(tmp_path):
    root = course(tmp_path / "course")
    references = References.of_course(root)
    references.build(ASSIGNMENT, seed=4)
    assert references.warning(ASSIGNMENT) == ""
    shutil.copytree(root / "exercises", root / "terms" / "2025w" / "exercises")
    assert "students of the term 2025w were graded by" in references.warning(ASSIGNMENT)
    references.build(ASSIGNMENT, seed=5)
    assert references.warning(ASSIGNMENT) == ""


def test_the_first_references_of_an_assignment_are_drawn_from_a_seed_that_nobody_can_guess(tmp_path, capsys):
    seeds = set()
    for root in (course(tmp_path / "one"), course(tmp_path / "two")):
        assert cli.main(["--course", str(root), "references"]) == 0
        seeds.add(References.of_course(root).seed(ASSIGNMENT))
    assert (len(seeds), capsys.readouterr().err) == (2, "")


@pytest.mark.parametrize("words", [["nowhere"], ["toy", "--seed", "many"], ["toy", "--seed", "-1"]])
def test_what_cannot_be_drawn_is_said_in_one_line(tmp_path, capsys, words):
    root = course(tmp_path / "course")
    assert cli.main(["--course", str(root), "references", *words]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert not list(root.rglob("manifest.json"))


def without_manifest(folder: Path, files: dict[str, Files]) -> None:
    (folder / "manifest.json").unlink()


def without_archive(folder: Path, files: dict[str, Files]) -> None:
    (folder / "expected.zip").unlink()


def no_zip(folder: Path, files: dict[str, Files]) -> None:
    (folder / "expected.zip").write_bytes(b"cut short")


def without_file(folder: Path, files: dict[str, Files]) -> None:
    write_archives(folder, files | {"doubling": {ARRAYS: files["doubling"][ARRAYS]}})


def another_file(folder: Path, files: dict[str, Files]) -> None:
    write_archives(folder, files | {"doubling": files["doubling"] | {EXPECTED: files["weights"][EXPECTED]}})


def not_in_the_manifest(folder: Path, files: dict[str, Files]) -> None:
    write_archives(folder, files | {"tripling": files["doubling"]})


@pytest.mark.parametrize(
    "damage", [without_manifest, without_archive, no_zip, without_file, another_file, not_in_the_manifest]
)
def test_damaged_references_are_said_and_not_used(built, tmp_path, damage):
    damage(tmp_path / "toy", stored(tmp_path))
    with pytest.raises(GradingError, match="run 'autograder references toy'"):
        built.cases("toy/tripling" if damage is not_in_the_manifest else "toy/doubling")


def test_the_instructors_jupyter_finds_the_references_of_the_course_that_it_works_in(tmp_path, monkeypatch):
    from autograder import reference

    root = course(tmp_path / "course")
    References.of_course(root).build(ASSIGNMENT, seed=3)
    monkeypatch.chdir(root / "source" / ASSIGNMENT)
    monkeypatch.delenv("AUTOGRADER_INPUTS", raising=False)
    monkeypatch.delenv("AUTOGRADER_ANSWERS", raising=False)
    (case,) = reference("toy/doubling")
    case.compare(y=2 * case.x)
    with pytest.raises(AssertionError):
        case.compare(y=3 * case.x)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="autograder references toy"):
        list(reference("toy/doubling"))


@pytest.mark.parametrize("assignment", Course(ROOT).assignments())
def test_a_bundle_holds_the_modules_that_its_exercises_import_and_no_sample_answer(assignment, tmp_path):
    for path, data in bundle._oracles(REFERENCES.folder, assignment):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    for name in ("data", "check"):  # a bundle has the library, too
        shutil.copytree(ROOT / "course" / name, tmp_path / "course" / name)
    (tmp_path / "course.toml").write_text('library = "course"\nchecks = "course.check"\n')
    found = loader.exercises(tmp_path / "exercises", assignment)
    assert list(found) == list(REFERENCES.exercises(assignment))
    assert not list((tmp_path / "exercises").rglob("*answers*"))
    told = found_in(tmp_path / "exercises", [Hidden.of(Assignment.open(ROOT, assignment))])
    assert [one for one in told if one.text.startswith(("solution", "mark scheme"))] == []


def test_the_bundle_of_an_assignment_whose_name_begins_another_holds_nothing_of_the_other(tmp_path):
    for path in ("toy/doubling.py", "toy/_shared.py", "toy_lab/doubling.py", "_all.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("" if "/_" in path or path[0] == "_" else EXERCISE)
    held = {path for path, _ in bundle._oracles(tmp_path, "toy")}
    assert held == {"exercises/toy/doubling.py", "exercises/toy/_shared.py", "exercises/_all.py"}


def test_no_requirement_names_one_of_our_own_distributions():
    """pip would look for it on the package index, where anybody may register the name."""
    projects = [tomllib.loads(path.read_text())["project"] for path in ROOT.glob("**/pyproject.toml")
                if ".venv" not in path.parts]  # fmt: skip
    ours = {canonicalize_name(project["name"]) for project in projects}
    assert len(ours) >= 2
    for project in projects:
        extras = [entry for extra in project.get("optional-dependencies", {}).values() for entry in extra]
        required = [Requirement(entry) for entry in [*project["dependencies"], *extras]]
        named = [one for one in required if canonicalize_name(one.name) in ours and not one.url]
        assert not named, f"{project['name']} requires {named}"
    plain = [*tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["dev"],
             *(ROOT / "constraints.txt").read_text().splitlines()]  # fmt: skip
    assert not [line for line in plain if canonicalize_name(line.partition("==")[0].strip()) in ours]


class Flip:
    """Runs the patched solution: its mistake turns the sign."""

    def __call__(self, made: Exercise, cases: Sequence[Case], patches: Mapping[str, object]) -> dict[str, Ran]:
        return {key: Ran([{"y": case.expected["y"] * (-1 if key else 1)} for case in cases]) for key in patches}

    def digest(self, made: Exercise) -> str:
        return ""


def sometimes_blind(generator: np.random.Generator) -> list[Case]:
    shown = generator.random() < 0.3  # else 0, where no sign shows
    return [Case(expected={"y": shown * generator.normal(1, 0.1, 2)})]


def test_cases_that_do_not_show_a_known_mistake_are_drawn_again():
    sign = Mistake("sign", "", "", ("y", "-y"))
    exercise = Exercise(sometimes_blind, mistakes=[sign], framework="torch", slug="toy/signs")
    for seed in range(10):
        (case,) = draw(exercise, seed, Flip())
        assert case.expected["y"].any()
    hopeless = Exercise(
        lambda generator: [Case(expected={"y": np.zeros(2)})],
        mistakes=exercise.mistakes,
        framework="torch",
        slug="toy/zeros",
    )
    with pytest.raises(GradingError, match=r"toy/zeros.*'sign'"):
        draw(hopeless, 1, Flip())


@pytest.mark.parametrize("seed", [3, 12, 17, 2026])
def test_every_exam_shows_what_students_tests_must_find_and_pieces_of_words(seed):
    for case in draw(REFERENCES.exercise("numpy_attention/written_tests"), seed):
        names = [implementations.IMPLEMENTATIONS[number].id for number in case.expected["order"]]
        unshifted, right = names.index("M1-overflow"), names.index("float32")
        assert np.isnan(case.inputs[f"{unshifted}.huge"]).any()
        exact = case.inputs[f"{names.index('float64')}.huge"]
        assert np.abs(case.inputs[f"{right}.huge"] - exact).max() < 1e-4
    tokens = draw(REFERENCES.exercise("distilbert/tokens"), seed)
    words = [word for case in tokens for word in json.loads(case.expected["text:tokens"].tobytes())]
    assert any(word.startswith("##") for word in words)


def test_sample_answers_are_no_trusted_modules(tmp_path):
    for path in ("toy/doubling.py", "toy/_answers.py", "toy/_layers.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    found = loader.trusted_modules(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in found] == ["toy/_layers.py", "toy/doubling.py"]
