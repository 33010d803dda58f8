"""``python -m tools.ceilings``: is a room of the repository larger than it may be? Part of ``make check``.

A room is a folder, with a ceiling of lines of Python and of files, in the table ``[tool.ceilings]`` of pyproject.toml;
``all`` is everything that git tracks. Exit code 1 where one is exceeded. ``--lower`` sets each ceiling that is higher
than what stands there to what stands there.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = ROOT / "pyproject.toml"
ALL = "all"


def measured(room: str) -> tuple[int, int]:
    """(lines of Python, files) below a folder, as far as git tracks them."""
    folder = "." if room == ALL else room
    listed = subprocess.run(["git", "ls-files", "-z", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    there = [path for path in files if path.is_file()]
    return sum(path.read_bytes().count(b"\n") for path in there if path.suffix == ".py"), len(there)


def main(words: list[str]) -> int:
    text = PROJECT.read_text(encoding="utf-8")
    exceeded = False
    for room, ceiling in tomllib.loads(text)["tool"]["ceilings"].items():
        found = measured(room)
        above = [max(0, count - most) for count, most in zip(found, ceiling, strict=True)]
        said = f"{above[0]:,} lines and {above[1]:,} files too many" if any(above) else ""
        print(
            f"{room:12}{found[0]:8,} of {ceiling[0]:7,} lines, {found[1]:5,} of {ceiling[1]:5,} files  {said}".rstrip()
        )
        exceeded |= any(above)
        lower = [min(pair) for pair in zip(found, ceiling, strict=True)]
        table, rest = text.split("[tool.ceilings]", 1)
        text = f"{table}[tool.ceilings]" + re.sub(rf"(?m)^{room} = \[.*\]", f"{room} = {lower}", rest, count=1)
    if "--lower" in words:
        PROJECT.write_text(text, encoding="utf-8")
    if exceeded:
        print("Remove as much elsewhere, or lower another room's ceiling by what this one's is raised, and say why.")
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
