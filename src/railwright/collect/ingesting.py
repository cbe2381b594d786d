"""The process beside the collector that makes parts of full spools.

    python -I -m railwright.collect.ingesting FOLDER      reads names of spool files, answers each

The collector's own memory stays small, and both cores have work.
"""

import sys
from pathlib import Path

from railwright.collect.admission import admit
from railwright.store.evidence import in_words
from railwright.store.ingest import ingest

if __name__ == "__main__":
    for name in sys.stdin:
        try:
            with in_words():
                ingest(Path(sys.argv[1]), Path(name.rstrip("\n")), admit)
        except Exception as error:  # the collector says it, and what to do
            sys.stderr.write((str(error).splitlines() or [type(error).__name__])[0])
            sys.exit(1)
        print("done", flush=True)  # noqa: T201 (the collector waits for it)
