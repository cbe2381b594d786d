"""Runs many command lines, one after the other, each in a process of its own.

To start Python and read the program takes most of the time of a mistake. So it is done once; then a
fork runs each line as `railwright` would, and what it prints and ends with is told.

python tests/many_runs.py FOLDER < lines.json, a list of {"words": [...], "environment": {...}}
"""

import json
import os
import sys
import tempfile

from railwright.cli import main, program


def run(words: list[str], environment: dict[str, str], folder: str) -> dict[str, object]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            os.environ.update(environment)
            os.chdir(folder)
            sys.argv = ["railwright", *words]
            status = 70
            try:
                main()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 0
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        _, ended = os.waitpid(child, 0)
        told = []
        for file in (out, errors):
            file.seek(0)
            told.append(file.read().decode("utf-8", "replace"))
    return {"status": os.waitstatus_to_exitcode(ended), "stdout": told[0], "stderr": told[1]}


if __name__ == "__main__":
    program()
    asked = json.load(sys.stdin)
    json.dump([run(one["words"], one["environment"], sys.argv[1]) for one in asked], sys.stdout)
