"""`railwright import`: files that a lone runner wrote on a host -> a snapshot."""

import time
from collections import deque
from pathlib import Path

from railwright.collect.admission import admit
from railwright.collect.probe import probes
from railwright.collect.stream import MachineStream
from railwright.errors import UsageError
from railwright.model.finish import finish_building
from railwright.store.build import Building
from railwright.store.ingest import ingest
from railwright.store.snapshot import Snapshot

CHUNK = 1 << 20
SUFFIX = ".rw"


def target_of(path: Path) -> str:
    """`gpu017.rw` is host gpu017: the file's name decides, not what its content claims."""
    return path.name.removesuffix(SUFFIX)


def _check(files: list[Path]) -> None:
    names = [target_of(path) for path in files]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"two files for one host: {', '.join(twice[:5])}",
            why="A snapshot has one answer per host and probe.",
            do="Import one of them, or import them separately and run railwright merge.",
        )
    folders = [str(path) for path in files if path.is_dir()]
    if folders:
        raise UsageError(
            f"{folders[0]} is a folder",
            do=f"Name the files in it: railwright import {folders[0].rstrip('/')}/*{SUFFIX}",
        )
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        raise UsageError(
            f"no such file: {missing[0]}",
            do="Name the files that `python3 -I rw.py > HOST.rw` wrote.",
        )
    # One machine that failed is a row of the snapshot; if there is nothing else, it is a mistake.
    if not any(map(_is_of_runner, files)):
        raise UsageError(
            f"{files[0]} is not the runner's output",
            why="It has none of the runner's frames.",
            do="Write it on the host: python3 -I rw.py > HOST.rw. Output of another program needs "
            "--kind PROBE --target HOST.",
        )


def _is_of_runner(path: Path) -> bool:
    """Whether a file begins as the runner's, behind at most a banner."""
    stream = MachineStream(target_of(path), None, frozenset(probes()))
    with path.open("rb") as file:
        deque(stream.feed(file.read(CHUNK)), maxlen=0)
    return stream.hello is not None


def import_files(files: list[Path], store: Path) -> Snapshot:
    """Read the files as if they came over a connection."""
    _check(files)
    head: dict[str, object] = {
        "started": time.time(),
        "asked_by": "import",
        "via": "import",
        "become": False,
        "probes": list(probes()),
    }
    building = Building(store, head, {target_of(path): "" for path in files})
    for path in files:
        _import_file(path, building)
        spool = building.full_spool()
        if spool is not None:
            ingest(building.folder, spool, admit)
    return finish_building(building, {}, admit)


def _import_file(path: Path, building: Building) -> None:
    stream = MachineStream(target_of(path), None, frozenset(probes()))
    size = 0
    with path.open("rb") as file:
        while data := file.read(CHUNK):
            size += len(data)
            for answer in stream.feed(data):
                building.add_answer(answer)
    for answer in stream.missing():
        building.add_answer(answer)
    host = stream.host_row()
    if host is not None:
        host["clock_offset_s"] = None  # the file's age, not the clock's error
        building.add_host(host)
    status = stream.status("answered")
    words = "" if status == "reached" else "the file does not end with the runner's last frame"
    row = stream.target_row(
        status, words if stream.hello is not None else "no frame of a runner in this file"
    )
    row.update(
        started=host["read_at"] if host else None,
        duration_s=None,
        attempts=1,
        bytes_received=size,
    )
    building.add_target(row)
