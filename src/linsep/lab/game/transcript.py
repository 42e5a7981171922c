"""The transcript of a play: its record, which can be checked against the theorems."""

from __future__ import annotations

from linsep.lab.game.checks import Check, Claim, check, check_all
from linsep.lab.game.recorded_play import RecordedPlay


class Transcript(RecordedPlay):
    """A play of T rounds that can be asked whether the theorems hold for it.

    Attributes and measurements are those of `RecordedPlay`.
    """

    def check(self, claim: Claim, *, margin: float | None = None) -> Check:
        """Compare the play with what a theorem promises of it: `linsep.game.check`."""
        return check(self, claim, margin=margin)

    def checks(self, *, margin: float | None = None) -> dict[Claim, Check]:
        """Return every check whose theorem speaks about the play, by name."""
        return check_all(self, margin=margin)
