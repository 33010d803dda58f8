"""Visible checks that explain themselves: one module per sheet, say ``from course.check import distilbert as check``.

They look at properties (shapes, row sums, what depends on what), never at a stored answer.
"""
