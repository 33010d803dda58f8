"""A term's end: its archive, and the folder that it moves into."""
