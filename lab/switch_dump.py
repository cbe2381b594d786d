"""sonic-db-dump for patterns that were not foreseen. Runs alone, without packages.

    python3 switch_dump.py FOLDER [-n DATABASE] [-k PATTERN] [-y]

Prints what a real one would: whoever asks for everything gets everything, secrets too.
"""

import argparse
import json
import sys
from fnmatch import fnmatchcase
from pathlib import Path

CONFIGURATION = "config_db.json"


def main() -> None:
    """Keys of the switch's configuration that match."""
    parser = argparse.ArgumentParser(prog="sonic-db-dump")
    parser.add_argument("folder", type=Path)
    parser.add_argument("-n", dest="database", default="CONFIG_DB")
    parser.add_argument("-k", dest="pattern", default="*")
    parser.add_argument("-y", action="store_true")
    asked = parser.parse_args()
    file = asked.folder / CONFIGURATION
    known = json.loads(file.read_text("utf-8")) if asked.database == "CONFIG_DB" else {}
    found = {key: entry for key, entry in known.items() if fnmatchcase(key, asked.pattern)}
    sys.stdout.write(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
