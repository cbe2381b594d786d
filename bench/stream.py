"""Parse and store a streamed fleet: hosts per second, memory, cost per host as the run goes on.

    python -m bench.stream [HOSTS]         10,000 by default

16 synthetic HGX H100 hosts of real size (500 PCI functions, 4 MB of answers) are read by the real
runner. Each further host repeats one of them with every long number changed, so that counters,
serials and addresses differ from host to host, in text and in config space, and what equal servers
share (EQUAL) stays shared. Two ingest processes work beside the writer, as in `collect`. What a
host costs in each tenth of the run is CPU time: the run may be stopped and go on. Needs root; 90 KB
of disk per host.
"""

import base64
import re
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from bench.figures import FILE, write_section
from bench.plot import write_line
from lab.harness.hosts import answers, large_hosts
from railwright.collect.probe import probes
from railwright.collect.stream import MachineStream
from railwright.model.finish import finish
from railwright.store.build import Building
from railwright.store.evidence import Answer

KINDS = 16
PLOTS = FILE.parent / "figures"
WORKERS = 2
# Probes whose answers have no counter, serial or address in them: settings, sizes, names of modes.
EQUAL = {
    *("pci", "cpu_power", "dcb_buffer", "ethtool", "ethtool_driver", "mlnx_qos", "mlxconfig"),
    *("modules", "sysctl"),
}
_NUMBER = re.compile(rb"\d{6,18}")
_SERIAL = re.compile(rb"Device Serial Number ((?:[0-9a-f]{2}-){7}[0-9a-f]{2})")


def base_hosts(folder: Path) -> list[list[Answer]]:
    """What the runner brought from each."""
    found = []
    for file in answers(folder, large_hosts(KINDS)):
        stream = MachineStream("base", None, frozenset(probes()))
        found.append(stream.feed(file.read_bytes()))
    return found


def _serials(said: list[Answer]) -> list[bytes]:
    """The serial numbers of PCI functions, as lspci writes them."""
    lspci = next(answer.stdout for answer in said if answer.probe == "lspci")
    return list(dict.fromkeys(_SERIAL.findall(lspci)))


def _other_serial(serial: bytes, number: int) -> bytes:
    """The same function's on another host: the last three bytes differ, as in a MAC address."""
    fresh = number.to_bytes(3, "big")
    return serial[: -len("aa-bb-cc")] + b"-".join(b"%02x" % byte for byte in fresh)


def _in_config_space(serial: bytes) -> bytes:
    return bytes(int(byte, 16) for byte in reversed(serial.split(b"-")))


def varied(answer: Answer, number: int, serials: list[bytes]) -> bytes:
    """An answer as another host of the same kind would give it."""
    if answer.probe in EQUAL:
        return answer.stdout
    said = answer.stdout
    if answer.probe in ("pci_config", "lspci"):
        for serial in serials:
            pair = (serial, _other_serial(serial, number))
            if answer.probe == "pci_config":
                pair = (_in_config_space(pair[0]), _in_config_space(pair[1]))
            said = said.replace(*pair)
        return said

    def other(found: re.Match[bytes]) -> bytes:
        width = len(found[0])
        return b"%0*d" % (width, (int(found[0]) + number) % 10**width)

    return _NUMBER.sub(other, said)


def packed(answer: Answer) -> bytes:
    """The answer as it comes from a machine."""
    return base64.b64encode(zlib.compress(b"\n" + answer.stdout + answer.stderr, 1))


def stream(bases: list[list[Answer]], count: int) -> Iterator[tuple[str, list[Answer]]]:
    """Host by host."""
    serials = [_serials(said) for said in bases]
    for number in range(count):
        target = f"gpu{number:06d}"
        kind = number % len(bases)
        said = []
        for answer in bases[kind]:
            stdout = varied(answer, number, serials[kind])
            one = replace(answer, target=target, stdout=stdout, started=1.79e9 + number)
            same = stdout == answer.stdout
            said.append(one if same else replace(one, packed=packed(one)))
        yield target, said


def peak_mb(pid: int) -> float:
    """The most memory a process has had."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


def cpu_of(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


class Workers:
    """The ingest processes, each with at most one spool waiting."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "railwright.store.ingest", str(folder)]
        self.processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(WORKERS)
        ]
        self._busy = dict.fromkeys(range(WORKERS), 0)
        self._next = 0

    def take(self, spool: Path) -> None:
        """Give a spool to the next one; waits while that one has enough to do."""
        at = self._next
        self._next = (at + 1) % WORKERS
        while self._busy[at] >= 1:
            self._wait(at)
        process = self.processes[at]
        assert process.stdin is not None
        process.stdin.write(f"{spool}\n")
        process.stdin.flush()
        self._busy[at] += 1

    def _wait(self, at: int) -> None:
        stdout = self.processes[at].stdout
        assert stdout is not None
        assert stdout.readline() == "done\n", "an ingest process ended"
        self._busy[at] -= 1

    def end(self) -> tuple[float, float]:
        """(CPU seconds, most memory of one in MB) when all is done."""
        for at in self._busy:
            while self._busy[at]:
                self._wait(at)
        cpu = sum(cpu_of(process.pid) for process in self.processes)
        peak = max(peak_mb(process.pid) for process in self.processes)
        for process in self.processes:
            process.communicate()
        return cpu, peak


def run(bases: list[list[Answer]], store: Path, count: int) -> list[tuple[str, str, str]]:
    """One fleet; its figures, and a plot of what a host costs as the run goes on."""
    names = {f"gpu{number:06d}": "" for number in range(count)}
    building = Building(store, {"started": time.time(), "via": "bench"}, names)
    workers = Workers(building.folder)
    began, size = time.monotonic(), 0
    spent: list[float] = []  # CPU of the ingest processes after each tenth
    making = writing = 0.0
    mark = time.process_time()
    for number, (target, said) in enumerate(stream(bases, count), 1):
        making += time.process_time() - mark
        mark = time.process_time()
        for answer in said:
            building.add_answer(answer)
            size += len(answer.stdout)
        row = {"target": target, "status": "reached", "words": "", "out_of_service": ""}
        building.add_target(dict(row))
        spool = building.full_spool()
        writing += time.process_time() - mark
        if spool is not None:
            workers.take(spool)
        if number % max(count // 10, 1) == 0:
            spent.append(sum(cpu_of(process.pid) for process in workers.processes))
        mark = time.process_time()
    building.close()
    cpu, peak = workers.end()
    read = time.monotonic() - began
    before = time.process_time()
    snapshot = finish(building.folder)
    sealed = time.process_time() - before
    wall = time.monotonic() - began
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    disk = sum(file.stat().st_size for file in snapshot.path.rglob("*.parquet"))
    each = (cpu + writing + sealed) / count
    rate = 2 / each
    tenth = max(count // 10, 1)
    costs = [(b - a) / tenth * 1000 for a, b in pairwise([0.0, *spent])]
    plot = PLOTS / f"stream-{count}.svg"
    title = f"Ingest CPU per host, each tenth of {count:,} hosts"
    write_line(plot, title, {f"{n}0 %": cost for n, cost in enumerate(costs, 1)}, "ms")
    listed = ", ".join(f"{cost:.0f}" for cost in costs)
    figures = {
        "CPU per host, spool to sealed snapshot": f"{each * 1000:.0f} ms",
        "hosts per second that 2 cores can do (2 / CPU per host)": f"{rate:.1f} (aim: 100)",
        "evidence": f"{size / count / 1e6:.2f} MB per host, {rate * size / count / 1e6:.0f} MB/s",
        "wall time here, answers made meanwhile": f"{read:.0f} s, {wall - read:.0f} s to seal",
        "CPU to make the answers, not counted above": f"{making / count * 1000:.0f} ms per host",
        "most memory of an ingest process (wanted < 1 GB)": f"{peak:.0f} MB",
        "most memory of the writer (wanted < 1 GB)": f"{own:.0f} MB",
        f"ms per host in each tenth of the run ([plot](figures/{plot.name}))": listed,
        "on disk": f"{disk / count / 1000:.1f} KB per host",
    }
    return [(what, measured, "") for what, measured in figures.items()]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory(prefix="railwright-bench-") as name:
        folder = Path(name)
        bases = base_hosts(folder)
        rows = run(bases, folder / "store", count)
    write_section(f"Streamed fleet: {count:,} hosts", f"`python -m bench.stream {count}`.", rows)
    for row in rows:
        print("  ".join(row))


if __name__ == "__main__":
    main()
