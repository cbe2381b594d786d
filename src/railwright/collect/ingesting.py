"""The process beside the collector that makes parts of full spools.

    python -I -m railwright.collect.ingesting FOLDER      reads names of spool files, answers each

The collector's own memory stays small, and both cores have work.
"""

import sys
from pathlib import Path

from railwright.collect.admission import admit
from railwright.facts.ingest import ingest

if __name__ == "__main__":
    for name in sys.stdin:
        ingest(Path(sys.argv[1]), Path(name.rstrip("\n")), admit)
        print("done", flush=True)  # noqa: T201 (the collector waits for it)
