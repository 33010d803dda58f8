"""The files of the repository, without what tools leave in its folders."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LEFT_BY_TOOLS = {"build", "dist", "__pycache__", "node_modules", "site-packages"}


def modules(*folders: str, root: Path = ROOT) -> list[Path]:
    """The Python files below these folders that git does not ignore; without git, those that no tool has left."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders]
    try:
        listed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout.decode()
        found = [root / name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        found = [path for folder in folders for path in (root / folder).rglob("*") if not _is_left(path, root)]
    return sorted(path for path in found if path.suffix == ".py" and path.is_file())


def _is_left(path: Path, root: Path) -> bool:
    parts = path.relative_to(root).parts
    return any(part in _LEFT_BY_TOOLS or part.startswith(".") or part.endswith(".egg-info") for part in parts)
