"""Notebooks that were written for another autograder, made into source notebooks of nbgrader."""
