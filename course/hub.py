"""Getting one pinned file from the model hub, once: resumed where it broke off, and verified.

``huggingface_hub`` knows the addresses, the cache folders and the offline switch. The transfer itself is ours,
because its own download starts from nothing after an interrupted cell, and 268 MB are long on a lecture
hall's wireless network.
"""

import contextlib
import hashlib
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import requests
from filelock import FileLock
from tqdm.auto import tqdm

from course.errors import CheckpointError, DownloadError

TIMEOUT = 20  # seconds without a byte
ATTEMPTS = 3  # in a row that brought nothing
CHUNK = 1 << 20
REMEDY = "Try again later (it goes on where it stopped), set COURSE_WEIGHTS to a folder with the file, or use mini."


@dataclass(frozen=True)
class HubFile:
    """One file of one revision of a repository on the hub; size in bytes."""

    repository: str
    revision: str
    name: str
    size: int
    sha256: str


DISTILBERT = HubFile(
    repository="distilbert/distilbert-base-uncased-finetuned-sst-2-english",
    revision="714eb0fa89d2f80546fda750413ed43d93601a13",
    name="model.safetensors",
    size=267_832_558,
    sha256="7c3919835e442510166d267fe7cbe847e0c51cd26d9ba07b89a57b952b49b8aa",
)


def fetch(file: HubFile) -> Path:
    """The verified file on this disk, downloaded if need be.

    Raises DownloadError where the hub cannot be reached or has something else, CheckpointError where the copy in
    the cache is damaged.
    """
    path = cached(file)
    if path is None:
        return _download(file)
    found = _sha256(path)
    if found != file.sha256:
        raise CheckpointError(
            f"{path} is damaged: expected sha256 {file.sha256[:12]}…, found {found[:12]}…. "
            f"Delete it; the next call downloads it anew."
        )
    return path


def cached(file: HubFile) -> Path | None:
    """Where the file lies on this disk, in the course's cache or in that of ``transformers``; else None."""
    from huggingface_hub import try_to_load_from_cache

    own = _cache_path(file)
    if own.is_file():
        return own
    shared = try_to_load_from_cache(file.repository, file.name, revision=file.revision)
    return Path(shared) if isinstance(shared, str) else None


def answers(file: HubFile, seconds: float = 3.0) -> bool:
    """Does the hub say within these seconds that it has the file? False where HF_HUB_OFFLINE forbids to ask.

    Question in a thread, because looking up the hub's name has no time limit of its own.
    """
    from huggingface_hub import constants, hf_hub_url

    if constants.HF_HUB_OFFLINE:
        return False
    url, found = hf_hub_url(file.repository, file.name, revision=file.revision), threading.Event()

    def ask() -> None:
        with contextlib.suppress(requests.RequestException):
            # the hub answers with the address of the file, which need not be followed
            if requests.head(url, timeout=seconds, allow_redirects=False).status_code < 400:
                found.set()

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(seconds)
    return found.is_set()


def _cache_path(file: HubFile) -> Path:
    from huggingface_hub import constants

    return Path(constants.HF_HOME) / "course" / file.revision / file.name


def _download(file: HubFile) -> Path:
    from huggingface_hub import constants, hf_hub_url

    if constants.HF_HUB_OFFLINE:
        raise DownloadError(
            f"{file.repository} is not on this computer, and HF_HUB_OFFLINE forbids the download. {REMEDY}"
        )
    target = _cache_path(file)
    partial = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Two notebooks that start at once must not both append to one file.
        with FileLock(target.with_name(target.name + ".lock")):
            if not target.is_file():
                _transfer(hf_hub_url(file.repository, file.name, revision=file.revision), partial, file)
                found = _sha256(partial)
                if found != file.sha256:
                    partial.unlink()
                    raise DownloadError(
                        f"The download of {file.name} is damaged: expected sha256 {file.sha256[:12]}…, "
                        f"came {found[:12]}…. It was deleted; run the cell again."
                    )
                partial.replace(target)
    except OSError as error:
        raise DownloadError(
            f"Cannot store {file.name} ({file.size / 1e6:.0f} MB) in {target.parent} ({error.strerror or error}). "
            f"Free some space, or set HF_HOME to a folder that can be written."
        ) from error
    return target


def _transfer(url: str, partial: Path, file: HubFile) -> None:
    """Bring ``partial`` up to the file's size, from wherever an earlier attempt left it."""
    attempts = 0
    with tqdm(total=file.size, desc=file.name, unit="B", unit_scale=True) as bar:
        while (before := _size(partial)) < file.size:
            try:
                _append(url, partial, file, bar)
            except requests.RequestException as error:
                attempts = 1 if _size(partial) > before else attempts + 1
                if attempts == ATTEMPTS:
                    have, want = _size(partial) / 1e6, file.size / 1e6
                    raise DownloadError(
                        f"The hub cannot be reached ({type(error).__name__}); "
                        f"{have:.0f} of {want:.0f} MB of {file.repository} are here. {REMEDY}"
                    ) from error
                time.sleep(1)


def _append(url: str, partial: Path, file: HubFile, bar: tqdm) -> None:
    have = _size(partial)
    headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"}
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if 400 <= response.status_code < 500:
            raise DownloadError(
                f"The hub has no {file.name} of {file.repository} at revision {file.revision[:8]} "
                f"(HTTP {response.status_code} for {url})."
            )
        response.raise_for_status()
        resumed = response.status_code == 206
        offered = int(response.headers.get("Content-Length", 0)) + (have if resumed else 0)
        if offered != file.size:
            raise DownloadError(
                f"The hub offers {offered} bytes for {file.name} of {file.repository}, expected {file.size}. "
                f"Is a proxy or a login page in between?"
            )
        bar.n = have if resumed else 0
        with partial.open("ab" if resumed else "wb") as stream:
            for chunk in response.iter_content(CHUNK):
                stream.write(chunk)
                bar.update(len(chunk))


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
