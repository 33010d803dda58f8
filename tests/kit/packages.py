"""What pip would install beside a wheel, taken from this environment: pip would need a minute for the same files."""

from __future__ import annotations

import os
import shutil
import zipfile
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def asked_for(wheel: Path) -> list[str]:
    """The names of all distributions that the wheel needs, directly or through others.

    Fails where one is not installed here, or in a version that does not satisfy who asks for it.
    """
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        wanted = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist") or []
    todo, done = [(line, "") for line in wanted], set()
    while todo:
        line, extra = todo.pop()
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        found = distribution(requirement.name)
        assert requirement.specifier.contains(found.version, prereleases=True), f"{line}, but {found.version} is here"
        for one in ("", *requirement.extras):
            if (key := (canonicalize_name(requirement.name), one)) not in done:
                done.add(key)
                todo += [(asked, one) for asked in found.requires or ()]
    return sorted({name for name, _ in done})


def put_in(environment: Path, name: str) -> None:
    """The files of an installed distribution, in another environment: as links, for nothing writes to them."""
    (packages,) = (environment / "lib").glob("python*/site-packages")
    found = distribution(name)
    assert found.files, f"nothing says which files belong to {name}"
    for file in found.files:
        source, target = Path(str(found.locate_file(file))), Path(os.path.normpath(packages / file))
        if source.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            _put(source, target, environment)


def _put(source: Path, target: Path, environment: Path) -> None:
    if target.parent == environment / "bin":  # it names the interpreter that it is for
        lines = source.read_bytes().split(b"\n", 1)
        target.write_bytes(b"\n".join([f"#!{environment}/bin/python".encode(), *lines[1:]]))
        target.chmod(0o755)
        return
    try:
        os.link(source, target)
    except OSError:  # on another disk
        shutil.copy2(source, target)
