"""Forgiveness, as a rule of every notebook: a wrong answer costs its own exercise, whatever stands beside it.

``made`` makes the tries, ``test_pairs`` a few of them, ``python -m tests.pairs`` all.
"""
