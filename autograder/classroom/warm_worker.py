"""Imported once, in the process that local workers are forked from: what each of them would otherwise do again."""

from __future__ import annotations

import gc

import nbformat

import autograder.classroom.workers  # noqa: F401  # what a worker runs

nbformat.validate(nbformat.v4.new_notebook())  # nbformat makes its validator of the schema when it first needs it
gc.freeze()  # a worker that collects garbage must not copy every page that it looks at
gc.enable()
