"""Imported where the notebooks of many people are run, in the process that each notebook's is forked from.

It reads what every notebook would read again: the tokenizer's file.
"""

from course.tokenizer import load_tokenizer

load_tokenizer()
