"""Measured comparisons, side by side in one run. ``make bench`` prints them as Markdown tables."""
