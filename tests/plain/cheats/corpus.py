"""All cheats, in the order of their ids."""

from __future__ import annotations

from tests.plain.cheats.channel import CHANNEL
from tests.plain.cheats.process import PROCESS
from tests.plain.cheats.values import VALUES

CHEATS = sorted([*CHANNEL, *PROCESS, *VALUES], key=lambda cheat: cheat.id)
