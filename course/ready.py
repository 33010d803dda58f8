"""Imported where the notebooks of many people are run, in the process that each notebook's is forked from.

It reads what every notebook would read again: the weights of mini and the tokenizer. It neither computes nor tokenizes,
which would start threads that a fork leaves behind.
"""

from course.pretrained import keep_ready
from course.tokenizer import load_tokenizer

keep_ready()
load_tokenizer()
