"""The words of the ``autograder`` command, one module each: ``add(subparsers)`` and ``run(args) -> exit code``."""
