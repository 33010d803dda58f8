"""On Colab: files that outlive the machine.

``drive("encoder_lab")`` works in a folder of the student's Google Drive, ``fetch`` gets the files that belong to an
assignment, and ``bring("1_embedding.ipynb")`` gets a notebook of an earlier session, from Drive or by upload. Elsewhere
than on Colab all three do nothing: there the files lie beside the notebook.
"""

import importlib
import os
import shutil
import sys
import urllib.request
from pathlib import Path
from typing import Any

MOUNT = Path("/content/drive")
COURSE = "transformer-course"  # the folder in My Drive
SAVED = "Colab Notebooks"  # the folder in My Drive where "Save a copy in Drive" puts notebooks
RAW = "https://raw.githubusercontent.com"
_SECONDS = 30


def on_colab() -> bool:
    return "google.colab" in sys.modules


def drive(assignment: str) -> None:
    """Work in ``My Drive/transformer-course/ASSIGNMENT`` from now on, and say which files lie there.

    Python files and notebooks of the folder that was left go along, unless Drive has one of this name. Where Drive may
    not be used, it says how files are kept without it.
    """
    home = _my_drive() if on_colab() else None
    if home is None:
        return
    folder, left = home / COURSE / assignment, Path.cwd()
    folder.mkdir(parents=True, exist_ok=True)
    for file in [*left.glob("*.py"), *left.glob("*.ipynb")]:
        if not (folder / file.name).exists():
            shutil.copy(file, folder)
    os.chdir(folder)
    there = ", ".join(sorted(path.name for path in folder.iterdir())) or "nothing yet"
    print(f"Working in My Drive/{COURSE}/{assignment}, which stays when the session ends. There now: {there}.")


def fetch(repository: str, assignment: str, *names: str) -> None:
    """Files of an assignment from the published repository, into this folder; one that is here already stays as it is.

    repository: OWNER/NAME. Raises SystemExit, with one sentence, where a file cannot be had.
    """
    if not on_colab():
        return
    for name in names:
        file, address = Path(name), f"{RAW}/{repository}/main/release/{assignment}/{name}"
        if file.exists():
            continue
        try:
            data = urllib.request.urlopen(address, timeout=_SECONDS).read()
        except OSError as error:
            raise SystemExit(
                f"{name} could not be fetched ({error}). Run this cell again, or upload the file from\n{address}"
            ) from None
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def bring(*names: str) -> None:
    """Your own files of an earlier session into this folder, as in ``bring("1_embedding.ipynb")``.

    A file is looked for in Drive: among the course's own folders, and among the copies that Colab saved, the newest
    first. What is not there is asked for: the button that appears uploads it from your computer.
    """
    if not on_colab():
        return
    home = _my_drive()
    for name in names:
        found = _newest(home, name) if home else None
        if Path(name).exists():
            print(f"{name} is in this folder already.")
        elif found:
            shutil.copy(found, name)
            print(f"{name}: from My Drive/{found.relative_to(home or found.anchor)}.")
        else:
            _upload(name)


def hint(name: str) -> str:
    """What to do on Colab where ``name`` is not in this folder; nothing elsewhere."""
    if not on_colab():
        return ""
    return f" To take your own, run this first: from course import colab; colab.bring({name!r})"


def _my_drive() -> Path | None:
    """The student's Drive; None, with a sentence printed, where Colab may not use it."""
    try:
        _part("drive").mount(str(MOUNT))
    except Exception as error:  # refused, timed out, or a Colab without Drive: each has an error of its own
        print(
            f"Google Drive is not connected ({type(error).__name__}). Files in this session vanish with it: download "
            "yours by the panel “Files” at the left before you close it, and upload them there the next time."
        )
        return None
    return MOUNT / "MyDrive"


def _newest(home: Path, name: str) -> Path | None:
    """A copy may be called "Copy of 1_embedding.ipynb", in the student's language, or "1_embedding (1).ipynb"."""
    wanted = Path(name)
    found = [*(home / COURSE).glob(f"*/{name}"), *(home / SAVED).glob(f"*{wanted.stem}*{wanted.suffix}")]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def _upload(name: str) -> None:
    print(f"{name} is not in your Drive. Choose the file on your computer:")
    given = list(_part("files").upload())
    if len(given) != 1:
        print(f"{len(given)} files came; one is needed, {name}. Run this again to choose it.")
    elif given[0] != name:
        os.replace(given[0], name)
        print(f"{given[0]} is called {name} here.")


def _part(name: str) -> Any:
    return importlib.import_module(f"google.colab.{name}")
