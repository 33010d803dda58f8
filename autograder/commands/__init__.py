"""The commands of ``autograder``, one module each: :mod:`autograder.cli` finds them and says what a module defines."""
