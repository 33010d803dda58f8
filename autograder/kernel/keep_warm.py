"""The process behind ``autograder warm``: ``python -m autograder.kernel.keep_warm``, with what to keep on its input."""

from __future__ import annotations

import json
import os
import sys

from autograder.kernel.errors import InfrastructureError
from autograder.kernel.imports import KernelImports
from autograder.kernel.warm import keep


def main() -> int:
    asked, said = json.load(sys.stdin), os.fdopen(os.dup(sys.stdout.fileno()), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdin, sys.stdout):  # the command that started this one waits until nobody holds its pipes
        os.dup2(nowhere, stream.fileno())
    of = asked["imports"]
    imports = KernelImports(tuple(of["readable"]), tuple(of["paths"]), tuple(of["warm"]), of["pictures"])
    try:
        keep(imports, asked["idle_seconds"], said)
    except InfrastructureError as error:
        said.write(str(error))
        said.close()
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
