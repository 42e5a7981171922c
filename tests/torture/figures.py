"""What an attack found, counted."""

import time
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Figures:
    """The count of an attack's tries, by outcome, and the first things that went wrong.

    ``counts`` has one entry an outcome that is as it should be ("proved", "refused",
    ...); ``wrong`` one text for each try that is not.
    """

    name: str
    counts: Counter = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        return sum(self.counts.values()) + len(self.wrong)

    def fail(self, text: str) -> None:
        self.wrong.append(text)

    def line(self) -> str:
        outcomes = ", ".join(f"{n:,} {what}" for what, n in sorted(self.counts.items()))
        return (
            f"{self.name:<28} {self.tried:>8,} tried  {len(self.wrong):>3} wrong  "
            f"{self.seconds:>6.0f} s  {outcomes}"
        )


def run(attack, rng, n_tries, **options) -> Figures:
    """Run one attack and time it."""
    figures = Figures(attack.__doc__.splitlines()[0].rstrip("."))
    started = time.perf_counter()
    attack(figures, rng, n_tries, **options)
    figures.seconds = time.perf_counter() - started
    return figures
