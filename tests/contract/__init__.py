"""The contract: what every sample answer earns, and what it is told. Recorded in one file per assignment.

``python -m tests.contract`` records it or compares it with what was recorded; ``recorded`` reads it for the tests.
"""
