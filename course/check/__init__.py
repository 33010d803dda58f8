"""Visible checks that explain themselves: ``from course.check import distilbert as check``, one package per assignment.

They look at properties (shapes, row sums, what depends on what), never at a stored answer.
"""
