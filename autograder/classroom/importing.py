"""Imported first in the process that local workers are forked from: importing makes many objects and no garbage.

:mod:`.warm_worker` ends it.
"""

from __future__ import annotations

import gc

gc.disable()
