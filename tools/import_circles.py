"""``python -m tools.import_circles``: do modules of the grader or of the library import each other in a circle?

Part of ``make check``. Imports inside functions and those for type checkers alone count, too. Prints a circle and ends
with exit code 1 where there is one.
"""

import sys
from graphlib import CycleError, TopologicalSorter

import grimp

PACKAGES = ("autograder", "course")


def circle(package: str) -> list[str]:
    """The modules of one circle, the first again at the end; empty where there is none."""
    graph = grimp.build_graph(package)
    try:
        TopologicalSorter({name: graph.find_modules_directly_imported_by(name) for name in graph.modules}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def main() -> int:
    found = [one for package in PACKAGES if (one := circle(package))]
    print("\n".join(" <- ".join(one) for one in found) or "no circle of files")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
