"""How the stored references are made: one module per assignment, each with its ``EXERCISES``.

An oracle never imports the course's solution. It asks ``transformers``' own modules, ``torch.nn``'s
built-ins, or NumPy in float64.
"""
