"""``python -m tests.questions``: questions on every right answer of the main line, as a table.

Exit code 1 where a key is wrong, or where a form of choices says which is right.
"""

import argparse
import sys
from collections import Counter, defaultdict
from statistics import mean

from tests.questions.measured import Asked, asked, by_guessing, guessed, students
from tests.questions.second_way import problem
from tests.questions.styles import main_line_assignments, styles

#: So far above chance no way to choose may be, in standard deviations.
MAX_DEVIATIONS = 3.0
KINDS = ("shape", "without", "becomes", "passes", "shape_2")


def table(count: int) -> int:
    """Print it; 1 where a key is wrong or a form tells. count: students for each style."""
    found = every_style()
    rows: dict[str, list[Asked]] = defaultdict(list)
    for one in found:
        rows[one.style.slug].append(one)
    wrong = [f"{one.style}: {said}" for one in found for said in wrong_keys(one, 1)]
    print(f"{'exercise':36} right answers  with 3  2  1  0   {'  '.join(KINDS)}   not counted")
    for slug, group in rows.items():
        print(f"{slug:36} {_row(group)}")
    print(f"{'all':36} {_row(found)}")
    seconds = sorted(one.seconds for one in found)
    print(f"processor time of a student: median {seconds[len(seconds) // 2]:.2f} s, most {seconds[-1]:.2f} s")
    print(f"keys that running the code a second way does not confirm: {len(wrong)}", *wrong, sep="\n  ")
    three = [made for one in found if len(made := [q for q in one.questions(students(1)[0]) if one.right(q)]) == 3]
    print(f"who guesses at three questions earns {mean(map(by_guessing, three)):.0%} of the points on average")
    told = []
    for (kind, way), guesses in guessed(found, count).items():
        said = f"{kind:8} {way:11} right {guesses.right} of {guesses.asked}, by chance {guesses.chance:.0f}"
        print(f"{said} ({guesses.deviations:+.1f} standard deviations)")
        told += [said] if guesses.deviations > MAX_DEVIATIONS else []
    return int(bool(wrong or told))


def every_style() -> list[Asked]:
    """All right answers of the main line, asked once what the course imports was imported."""
    every = [style for name in main_line_assignments() for style in styles(name)]
    for slug in {style.slug: style for style in every}.values():
        asked(slug)
    return [asked(style) for style in every]


def wrong_keys(one: Asked, count: int) -> list[str]:
    """Of the questions to so many students."""
    made = {(q.kind, q.subject): q for student in students(count) for q in one.questions(student) if one.right(q)}
    said = ((q, problem(one, q, one.right(q))) for q in made.values())
    return [f"{q.text} key {one.right(q)!r}, but {why}" for q, why in said if why]


def _row(group: list[Asked]) -> str:
    made = [[(q, one.right(q)) for q in one.questions(students(1)[0])] for one in group]
    numbers = Counter(sum(bool(right) for _, right in some) for some in made)
    kinds = Counter(q.kind for some in made for q, right in some if right)
    dropped = sum(not right for some in made for _, right in some)
    counted = "  ".join(f"{numbers[number]:3}" for number in (3, 2, 1, 0))
    return f"{len(group):6}         {counted}    {'   '.join(f'{kinds[kind]:5}' for kind in KINDS)}   {dropped:5}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=20, help="for each right answer")
    return table(parser.parse_args(arguments).students)


if __name__ == "__main__":
    sys.exit(main())
