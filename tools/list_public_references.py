"""Add the stored references that ship with the kit to ``autograder/references/public.txt``: everybody knows them.

    python -m tools.list_public_references

Lines stay when references are drawn anew: whoever cloned the kit before still has them. Exercises whose answers do not
depend on the seed are left out.
"""

import json
import tempfile
from pathlib import Path

from autograder.authoring.packs import patched_solutions
from autograder.model.course import Course
from autograder.references.store import PUBLIC_LIST, References, public_digests

ROOT = Path(__file__).resolve().parents[1]


def digests(folder: Path, assignment: str) -> dict[str, str]:
    """exercise -> checksum of its expected answers"""
    manifest = json.loads((folder / assignment / "manifest.json").read_text(encoding="utf-8"))
    return {name: entry["sha256"]["expected.safetensors"] for name, entry in manifest["exercises"].items()}


def main() -> None:
    references, known = References.of_course(ROOT), public_digests()
    for assignment in Course(ROOT).assignments():
        if (seed := references.seed(assignment)) is None:
            continue
        shipped = digests(references.folder, assignment)
        if set(shipped.values()) <= known:
            continue
        with tempfile.TemporaryDirectory() as other, patched_solutions(Course(ROOT), assignment) as run:
            references.build(assignment, seed + 1, Path(other), run=run)
            drawn_from_another_seed = digests(Path(other), assignment)
        with PUBLIC_LIST.open("a", encoding="utf-8") as file:
            for name, digest in shipped.items():
                if digest not in known and drawn_from_another_seed[name] != digest:
                    file.write(f"{digest} {assignment}/{name}\n")


if __name__ == "__main__":
    main()
