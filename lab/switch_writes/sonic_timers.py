"""systemd-run and systemctl on a SONiC switch: timers that go off when whoever set them is gone."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from lab.switch_writes.outcome import Call, Outcome, RefusedError

_UNITS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}


def seconds(text: str) -> float | None:
    """600, 10m, 5min."""
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = text[len(digits) :] or "s"
    if not (digits.isascii() and digits.isdigit() and len(digits) < 9) or unit not in _UNITS:
        return None
    return float(int(digits) * _UNITS[unit])


@dataclass
class Timers:
    """By the name of their unit."""

    waiting: dict[str, tuple[float, tuple[str, ...]]] = field(default_factory=dict)

    def run(self, call: Call, now: float) -> Outcome:
        """systemd-run --on-active=600 --unit=NAME COMMAND, systemctl stop NAME.timer."""
        program, *words = call.words
        if program == "systemctl":
            return self._control(words)
        after, unit = None, f"run-u{len(self.waiting) + 1}"
        while words and words[0].startswith("--"):
            name, _, value = words.pop(0).partition("=")
            after = seconds(value) if name == "--on-active" else after
            unit = value if name == "--unit" else unit
        if after is None or not words:
            raise RefusedError("Failed to parse --on-active= parameter.")
        if unit in self.waiting:
            said = f"Failed to start transient timer unit: Unit {unit}.timer already exists."
            raise RefusedError(said)
        self.waiting[unit] = (now + after, tuple(words))
        return Outcome(stderr=f"Running timer as unit: {unit}.timer\n"
                              f"Will run service as unit: {unit}.service\n")  # fmt: skip

    def _control(self, words: list[str]) -> Outcome:
        verb, unit = [*words, "", ""][:2]
        name = unit.removesuffix(".timer")
        if verb == "is-active":
            is_there = name in self.waiting
            return Outcome("active\n" if is_there else "inactive\n", code=0 if is_there else 3,
                           reads=True)  # fmt: skip
        if verb != "stop" or name not in self.waiting:
            raise RefusedError(f"Failed to {verb or 'do'} {unit}: Unit {unit} not loaded.", 5)
        del self.waiting[name]
        return Outcome()

    def due(self, now: float) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Those whose time has come; each goes off once."""
        for name, (at, words) in list(self.waiting.items()):
            if now >= at:
                del self.waiting[name]
                yield name, words

    def clear(self) -> None:
        """A reboot: there are none."""
        self.waiting.clear()
