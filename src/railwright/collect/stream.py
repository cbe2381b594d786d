"""The bytes of one machine -> its host row, its answers, and what is missing of them."""

import re
import time
from collections.abc import Iterator

from railwright.collect.frames import Frame, FrameReader
from railwright.collect.probe import probes
from railwright.errors import RailwrightError
from railwright.parse.base import Value
from railwright.store.evidence import ANSWER_STATUSES, Answer

MOST_PLANNED = 20_000
FLOOD_BYTES = 1 << 20  # no banner or login script is that long
SPARE = 2  # times a probe's cap: JSON that is written anew on the host may be longer than it was
HELLO, END = ".hello", ".end"
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
# What a probe may be run once for each of; of a host there is one.
_INSTANCES = {
    "host": re.compile(""),
    "nic": re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.ASCII),
    "port": re.compile(r"[^/\s]{1,64}/[0-9]{1,3}", re.ASCII),
    "netdev": re.compile(r"[^/\s]{1,32}"),
}
_SECONDS = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,3})?", re.ASCII)


def storable(text: str) -> str:
    """Text that a table can hold: no NUL, and no half of a pair (JSON can say \\ud800 alone)."""
    return _NOT_STORABLE.sub("\ufffd", text)


def _text(value: object, cap: int = 512) -> str:
    return storable(value[:cap]) if isinstance(value, str) else ""


def _number(value: object) -> float:
    """A number within reason; 0 for anything else, an integer of 400 digits among it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return float(value) if abs(value) < 1e12 else 0.0  # not true of NaN


def _seconds(value: object) -> float | None:
    """Seconds as /proc/uptime prints them; None for anything else."""
    found = _SECONDS.fullmatch(value) if isinstance(value, str) else None
    return float(found[0]) if found else None


class MachineStream:
    """One machine's output, taken apart as it comes. Everything in it is hostile.

    This is the boundary: whatever taking it apart raises is this machine's trouble, and ends there.
    """

    def __init__(
        self,
        target: str,
        run: str | None,
        probes: frozenset[str],
        asked: frozenset[str] = frozenset(),
    ) -> None:
        self.target = target
        self.reader = FrameReader(run)
        self.hello: dict[str, object] | None = None
        self.trouble = ""
        self._probes = probes  # that may answer
        self._asked = asked  # of which an answer is expected; a file tells only what it planned
        self._planned: dict[tuple[str, str], None] = {}
        self._answered: set[tuple[str, str]] = set()
        self._hello_at = 0.0
        self._greeted: set[str] = set()

    @property
    def wants_no_more(self) -> bool:
        """Whether all was said, or too much, or what cannot be understood."""
        return (
            bool(self.trouble)
            or self.reader.overflowing
            or (self.reader.complete and self.hello is not None)
        )

    def feed(self, data: bytes) -> list[Answer]:
        """The answers that these bytes complete."""
        answers: list[Answer] = []
        if self.trouble or self.reader.overflowing:
            return answers
        try:
            for frame in self.reader.feed(data):
                self._take(frame, answers)
        except RailwrightError:  # our own trouble, such as a full disk
            raise
        except Exception as error:  # the boundary
            self.trouble = f"could not be taken apart: {type(error).__name__}"
        return answers

    def _take(self, frame: Frame, answers: list[Answer]) -> None:
        if frame.probe == HELLO:
            self._take_hello(frame)
        elif frame.probe != END:
            answer = self._answer(frame)
            if answer is not None:
                answers.append(answer)

    def _take_hello(self, frame: Frame) -> None:
        if frame.stream in self._greeted:
            self.trouble = "two runners spoke in its name"  # through Slurm another node could
            return
        self._greeted.add(frame.stream)
        if not frame.stream.endswith("r"):
            self.hello = frame.fields
            self._hello_at = time.time()
        planned = frame.fields.get("planned")
        for item in planned[:MOST_PLANNED] if isinstance(planned, list) else ():
            if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):
                continue
            if item[0] in self._probes and len(self._planned) < MOST_PLANNED:
                self._planned[item[0], _text(item[1])] = None

    def _answer(self, frame: Frame) -> Answer | None:
        fields = frame.fields
        key = (frame.probe, _text(fields.get("instance")))
        if frame.probe not in self._probes or key in self._answered:
            return None  # never asked, or said twice: the first answer stands
        if key[1] and not self._may_be(*key):
            return None  # nobody asked about such a thing: two answers about one would be added up
        known = probes().get(frame.probe)
        if known is not None and len(frame.stdout) > SPARE * known.cap_bytes:
            self._answered.add(key)
            words = f"more than {known.cap_bytes} bytes"
            return Answer(self.target, frame.probe, key[1], "cut", reason=words, truncated=True)
        status = _text(fields.get("status"))
        argv = fields.get("argv")
        code = fields.get("exit_code")
        answer = Answer(
            target=self.target,
            probe=frame.probe,
            instance=key[1],
            status=status if status in ANSWER_STATUSES else "failed",
            reason=_text(fields.get("reason")),
            argv=[_text(part) for part in argv[:64]] if isinstance(argv, list) else [],
            exit_code=code if isinstance(code, int) and abs(code) < 2**31 else None,
            stdout=frame.stdout,
            stderr=frame.stderr,
            started=_number(fields.get("started")),
            duration_s=_number(fields.get("duration")),
            truncated=fields.get("truncated") is True,
            dropped=int(_number(fields.get("dropped"))),
            packed=frame.packed,
        )
        self._answered.add(key)
        return answer

    def _may_be(self, probe: str, instance: str) -> bool:
        """Whether a probe is run once for such a thing."""
        known = probes().get(probe)
        return known is None or bool(_INSTANCES[known.each].fullmatch(instance))

    def missing(self) -> Iterator[Answer]:
        """What was asked, or what the machine said it would read, and never came."""
        if self.hello is None:
            return  # not reached: the target's own row says so
        heard = {probe for probe, _ in (*self._planned, *self._answered)}
        asked = [(probe, "") for probe in sorted(self._asked - heard)]
        whole = self.reader.complete
        reason = "asked for, and not answered" if whole else "the connection ended first"
        for probe, instance in (*self._planned, *asked):
            if (probe, instance) not in self._answered:
                yield Answer(
                    target=self.target,
                    probe=probe,
                    instance=instance,
                    status="missing",
                    reason=reason,
                    started=self._hello_at,
                )

    @property
    def answers(self) -> int:
        """How many answers came."""
        return len(self._answered)

    def status(self, transport_status: str) -> str:
        """What became of the machine: what came back decides, then what the transport says."""
        if self.trouble:
            return "damaged"
        # A flood may meet the time limit before the byte limit, or come folded up in frames.
        flooded = self.reader.noise_bytes > FLOOD_BYTES or self.reader.overflowing
        if self.reader.overflowing:
            return "flooding"
        if self.reader.complete and self.hello is not None:
            return "reached"
        if transport_status == "flooding" or flooded:
            return "flooding"
        if self.hello is not None:
            return "incomplete"
        return "failed" if transport_status == "answered" else transport_status

    def host_row(self) -> dict[str, Value] | None:
        """The `host` table's row, if the machine got as far as saying hello."""
        if self.hello is None:
            return None
        said = _number(self.hello.get("time"))
        return {
            "target": self.target,
            "read_at": said,
            "hostname": _text(self.hello.get("hostname"), 256),
            "kernel": _text(self.hello.get("kernel"), 128),
            "architecture": _text(self.hello.get("machine"), 64),
            "operating_system": _text(self.hello.get("os"), 128),
            "python": _text(self.hello.get("python"), 32),
            "boot_id": _text(self.hello.get("boot_id"), 64),
            "uptime_s": _seconds(self.hello.get("uptime")),
            "clock_offset_s": round(said - self._hello_at, 3) if said else None,
        }

    def target_row(self, status: str, words: str) -> dict[str, Value]:
        """The part of the `target` row that the stream knows."""
        return {
            "target": self.target,
            "status": status,
            "words": storable(self.trouble or words),
            "frames_damaged": self.reader.damaged,
            "noise_bytes": self.reader.noise_bytes,
            "noise": storable(self.reader.noise.decode("utf-8", "replace")),
            "root": None if self.hello is None else _text(self.hello.get("root"), 32),
            "root_reason": None if self.hello is None else _text(self.hello.get("root_reason")),
        }
