"""The allow-list once more, at the collector: a hostile host does not run our filter.

What an honest runner sent passes unchanged. To know that costs little: hosts repeat the same lines,
and one that was let in before is let in again.
"""

from dataclasses import replace
from functools import cache
from typing import Any

from railwright.collect.probe import probes
from railwright.collect.runner import FILTERS, apply_filter, known_errors
from railwright.store.evidence import Answer
from railwright.store.ingest import too_many_pieces

MOST_LINES = 20_000  # remembered per probe; some MB in all
_BY_LINE = ("lines", "rows")


class Gate:
    """What of one probe's answers may enter a snapshot."""

    def __init__(self, probe: dict[str, Any]) -> None:
        self._probe = probe
        self._keep: dict[str, Any] | None = probe["keep"]
        self._lines: set[bytes] = set()

    def admit(self, answer: Answer) -> Answer:
        """The answer, without what the probe's filter would have dropped on the host."""
        if answer.stderr:
            answer = self._errors(answer)
        if words := too_many_pieces(answer.probe, answer.stdout):
            return replace(answer, stdout=b"", status="cut", reason=words, packed=b"")
        if self._keep is None or not answer.stdout or self._is_known(answer.stdout):
            return answer
        raw: dict[str, Any] = {
            "stdout": answer.stdout,
            "dropped": 0,
            "status": answer.status,
            "reason": "",
        }
        apply_filter(raw, self._keep)
        if raw["stdout"] == answer.stdout:
            return answer
        return replace(
            answer,
            stdout=raw["stdout"],
            dropped=answer.dropped + raw["dropped"],
            status=raw["status"],
            reason=raw["reason"] or answer.reason,
            packed=b"",
        )

    def _errors(self, answer: Answer) -> Answer:
        kept = known_errors(answer.stderr, self._probe)
        return answer if kept == answer.stderr else replace(answer, stderr=kept, packed=b"")

    def _is_known(self, data: bytes) -> bool:
        """Whether every line of it passes the filter as it stands, now or earlier."""
        if self._keep is None or self._keep["kind"] not in _BY_LINE:
            return False
        new = set(data.split(b"\n")) - self._lines
        new.discard(b"")
        if not new:
            return True
        try:
            kept, _ = FILTERS[self._keep["kind"]](b"\n".join(new) + b"\n", self._keep)
        except Exception:  # then the whole answer is filtered, and says so
            return False
        if set(kept.split(b"\n")) - {b""} != new:
            return False
        if len(self._lines) + len(new) > MOST_LINES:
            self._lines.clear()
        self._lines |= new
        return True


@cache
def _gates() -> dict[str, Gate]:
    return {name: Gate(probe.request()) for name, probe in probes().items()}


def admit(answer: Answer) -> Answer:
    """One answer of a host; what switches and clusters say was filtered as it was taken."""
    gate = _gates().get(answer.probe)
    return answer if gate is None else gate.admit(answer)
