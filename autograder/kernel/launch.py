"""What a forked kernel is told."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Launch:
    """Its folder, its environment, and where its connection file lies: empty for a tester, which needs none."""

    folder: str
    variables: dict[str, str]
    connection_file: str
