"""Versions of installed packages, by the name under which they are imported."""

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version


def installed_version(name: str) -> str:
    """The version of a distribution, or of the one that holds a package of this name; empty where there is none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ", ".join(version(one) for one in sorted(set(_distributions().get(name, ()))))


def distributions(name: str) -> list[str]:
    """What pip installs a package by, pinned: ``name==version``."""
    found = sorted(set(_distributions().get(name.partition(".")[0], ())))
    return [f"{one}=={version(one)}" for one in found]


@lru_cache(maxsize=1)
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())  # reads a file of every distribution
