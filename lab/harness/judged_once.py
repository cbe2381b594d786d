"""Rules over one snapshot run once for all verbs that ask the same of them.

Where the verbs are compared each still does everything else by itself: what it asks, what it joins,
what it prints. Of many fabrics some are tried without this too.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest import mock

from railwright.check import engine
from railwright.check.engine import Ran, Request
from railwright.check.rule import Rule

Key = tuple[object, ...]


class _Kept:
    """Verdicts by all that they are made of."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._ran = folder, dict[Key, tuple[Ran, Path]]()

    def run(self, request: Request) -> list[Ran]:
        """As the engine's own."""
        keys = {rule.id: _key(request, rule) for rule in request.rules}
        left = tuple(rule for rule in request.rules if keys[rule.id] not in self._ran)
        if left:
            for one in engine.run(replace(request, rules=left)):
                file = self._folder / f"{len(self._ran)}.parquet"
                if (request.out / one.file).is_file():
                    shutil.copy(request.out / one.file, file)
                self._ran[keys[one.rule]] = (one, file)
        request.out.mkdir(parents=True, exist_ok=True)
        for rule in request.rules:
            ran, file = self._ran[keys[rule.id]]
            if file.is_file():
                shutil.copy(file, request.out / ran.file)
        return [self._ran[keys[rule.id]][0] for rule in request.rules]


def _key(request: Request, rule: Rule) -> Key:
    intent = hashlib.sha256()
    for file in sorted(request.intent.glob("*.parquet")):
        intent.update(file.name.encode() + file.read_bytes())
    asked = (request.each, request.named, request.fold, request.seconds, request.alone)
    of_rule = (rule.id, rule.sql, repr(rule.parameters))
    return (*of_rule, *asked, str(request.facts), str(request.before), intent.hexdigest())


@contextmanager
def judged_once() -> Iterator[None]:
    """Inside, a rule that was asked of a snapshot is not run again for the same question."""
    with (
        tempfile.TemporaryDirectory(prefix="railwright-kept-") as name,
        mock.patch("railwright.check.run.run", _Kept(Path(name)).run),
    ):
        yield
