"""Cheats against plain asserts, as data. ``python -m tests.plain.cheats --stock`` prints what each earns."""
