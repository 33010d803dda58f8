"""``course.update()``: the corrections of a published notebook, brought into the student's half-filled one.

The published repository is read, nothing is sent there. What would change is shown first, and written with
``write=True``; the notebook as it was stays beside the new one.
"""

import difflib
import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course.errors import CourseError
from course.merge import History, Merged, merge, text_of

#: In a published repository: its files, and the texts that its cells have had.
FILES, TEXTS = ".published.json", ".published_cells.json"
_RAW = "https://raw.githubusercontent.com/{repository}/main"
_REPOSITORY = re.compile(r'(?m)^REPOSITORY = "([\w.-]+/[\w.-]+)"')
_BADGE = re.compile(r"github(?:\.com)?/([\w.-]+/[\w.-]+)/blob/main/(release/[\w-]+/[\w.-]+\.ipynb)")
_AGAIN = re.compile(r"(?:[ +_]|%20)*\(\d{1,3}\)$")
_SECONDS = 30
_MAX_LINES = 12


class UpdateError(CourseError):
    """The correction cannot be found, or the notebook cannot be read."""


def update(notebook: str | os.PathLike[str] = "", source: str = "", write: bool = False) -> None:
    """Show the corrections of a notebook; with ``write=True`` bring them in. Your own text always stays.

    notebook: the file, such as ``"1_attention.ipynb"``. Without one, the only notebook of the course in this folder, or
    in Colab the notebook that is open. source: the published repository, as OWNER/NAME or a folder; without it, the one
    that the notebook names. Raises UpdateError, in one line, and changes nothing.
    """
    path, own = _own(notebook)
    where = source or _repository(own)
    place = _published_path(where, path.name, own)
    published = json.loads(_read(where, place))
    merged = merge(published, own, _history(where, place))
    print(_shown(path.name, merged))
    if not merged.changes:
        return
    if not write:
        print(f"Nothing is written yet. To write it: course.update({str(notebook) or path.name!r}, write=True)")
        return
    _write(path, merged.notebook)


def _own(notebook: str | os.PathLike[str]) -> tuple[Path, dict[str, Any]]:
    opened = _open_in_colab() if not notebook else None
    if opened is not None:
        return opened
    path = Path(notebook) if notebook else _only_notebook()
    try:
        own = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UpdateError(f"{path} is not here ({Path.cwd()}): give the notebook's file") from None
    except (OSError, ValueError) as error:
        raise UpdateError(f"{path} cannot be read as a notebook: {error}") from error
    if not isinstance(own, dict) or not isinstance(own.get("cells"), list):
        raise UpdateError(f"{path} is no notebook of version 4: it has no list of cells")
    return path, own


def _only_notebook() -> Path:
    found = sorted(path for path in Path().glob("*.ipynb") if ".before-update" not in path.name)
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise UpdateError(f'say which notebook, as in course.update("1_attention.ipynb"); here are: {names}')
    return found[0]


def _open_in_colab() -> tuple[Path, dict[str, Any]] | None:
    """The notebook in the browser, as it is now; None outside of Colab."""
    try:
        from google.colab import _message
    except ImportError:
        return None
    own = _message.blocking_request("get_ipynb", timeout_sec=_SECONDS)["ipynb"]
    name = own.get("metadata", {}).get("colab", {}).get("name") or ""
    badge = _BADGE.search(_all_text(own))
    return Path(Path(name or (badge[2] if badge else "notebook.ipynb")).name), own


def _all_text(own: Mapping[str, Any]) -> str:
    return "\n".join(text_of(cell) for cell in own["cells"])


def _repository(own: Mapping[str, Any]) -> str:
    found = _REPOSITORY.search(_all_text(own)) or _BADGE.search(_all_text(own))
    if found is None:
        raise UpdateError('the notebook no longer names its repository: give it, as in source="OWNER/NAME"')
    return found[1]


def _published_path(where: str, name: str, own: Mapping[str, Any]) -> str:
    """The notebook in the repository: by its name, and where two have it by the badge at its top."""
    listed = [one for one in json.loads(_read(where, FILES)) if one.endswith(".ipynb")]
    stem = _AGAIN.sub("", Path(name).stem)
    badge = _BADGE.search(_all_text(own))
    if badge and badge[2] in listed:
        return badge[2]
    found = [one for one in listed if Path(one).stem == stem]
    if len(found) != 1:
        known = ", ".join(found or listed)[:300]
        raise UpdateError(f"{name} is not told from its name among {known}: give it its own name again")
    return found[0]


def _history(where: str, place: str) -> History:
    try:
        return json.loads(_read(where, TEXTS))["texts"].get(place, {})
    except (UpdateError, ValueError, KeyError):
        return {}  # published before texts were kept: what differs counts as the student's, and stays


def _read(where: str, name: str) -> str:
    folder = Path(where).expanduser()
    if folder.is_dir():
        try:
            return (folder / name).read_text(encoding="utf-8")
        except OSError as error:
            raise UpdateError(f"{folder / name} cannot be read: {error.strerror}") from error
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", where):
        raise UpdateError(f"{where!r} is neither a folder nor OWNER/NAME of a repository")
    import requests

    address = f"{_RAW.format(repository=where)}/{name}"
    try:
        answer = requests.get(address, timeout=_SECONDS)
        answer.raise_for_status()
    except requests.RequestException as error:
        raise UpdateError(f"{address} cannot be fetched: {error}") from error
    return answer.content.decode("utf-8")


def _shown(name: str, merged: Merged) -> str:
    if not merged.changes:
        return f"{name}: nothing to correct."
    lines = [f"{name}:"]
    for cell, before, now in merged.corrected:
        lines.append(f"  corrected: {cell}")
        found = list(difflib.unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=0))[2:]
        found = [line for line in found if not line.startswith("@@")]
        lines += [f"    {line}" for line in found[:_MAX_LINES]]
        lines += [f"    ... and {len(found) - _MAX_LINES} more lines"] if len(found) > _MAX_LINES else []
    lines += [f"  new: {cell}" for cell in merged.new]
    lines += [f"  no longer there: {cell}" for cell in merged.gone]
    lines += [
        f"  yours, kept in a cell of its own: {text.strip().splitlines()[0][:70]}"
        for text in merged.kept
        if text.strip()
    ]
    return "\n".join(lines)


def _write(path: Path, notebook: Mapping[str, Any]) -> None:
    """The notebook as it was stays as ``NAME.before-update.ipynb``; no file is ever written over by another one."""
    data = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    if path.exists():
        number, backup = 1, path.with_name(f"{path.stem}.before-update.ipynb")
        while backup.exists():
            number += 1
            backup = path.with_name(f"{path.stem}.before-update-{number}.ipynb")
        backup.write_bytes(path.read_bytes())
        print(f"The notebook as it was: {backup}")
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        fresh.write_text(data, encoding="utf-8")
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    print(f"Written: {path}. Now load it again without saving (Jupyter: File > Reload Notebook from Disk).")
    try:
        from google.colab import files
    except ImportError:
        return
    print("In Colab: open the file that is being downloaded with File > Upload notebook.")
    files.download(str(path))
