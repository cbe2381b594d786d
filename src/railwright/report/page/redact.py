"""A page for a vendor: machines under other names, the same everywhere; no addresses, no people."""

import json
import re
from collections.abc import Callable
from typing import Any

from railwright.errors import RailwrightError
from railwright.node_sets import unfold
from railwright.nodes import fold
from railwright.report.page.collect import Page
from railwright.report.page.encode import as_json

_HIDDEN = "(left out)"
_RANGE = r"\[[0-9][0-9,/-]*\]"
# A name, or a folded set of names.
_WORD = re.compile(rf"(?:[A-Za-z0-9_.-]|{_RANGE})+", re.ASCII)
_ADDRESS = re.compile(
    r"(?<![\w:.])(?:"
    r"(?:[0-9A-Fa-f]{2}[:-]){5,}[0-9A-Fa-f]{2}"  # MAC, and an InfiniBand hardware address
    r"|(?:[0-9A-Fa-f]{1,4}:){3,7}[0-9A-Fa-f]{1,4}"  # IPv6, GUID
    r"|(?:[0-9A-Fa-f]{1,4}:){1,6}(?::[0-9A-Fa-f]{1,4}){1,6}|::1"
    r"|(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
    r"|0x[0-9A-Fa-f]{16}"
    r")(?![\w:])",
    re.ASCII,
)
_OF_CLASS = re.compile(r"(\bclass )([\w.-]+)")
# What people wrote, and what may name a site: nobody can tell what is in it.
_FREE = ("owner", "reason", "away")


def _is_free(name: str, value: Any) -> bool:
    return name in _FREE and isinstance(value, str) and value != ""


class Redactor:
    """The same machine is given the same name everywhere."""

    def __init__(
        self, hosts: list[str], switches: list[str], planned: list[str], classes: list[str]
    ) -> None:
        listed = {name.lower() for name in (*hosts, *switches)}
        others = [name for name in planned if name.lower() not in listed]
        self._names = {
            name.lower(): f"{kind}{number:0{len(str(len(names)))}d}"
            for kind, names in (("h", hosts), ("s", switches), ("planned", others))
            for number, name in enumerate(names, 1)
        }
        self._short = {name.partition(".")[0]: new for name, new in self._names.items()}
        self._classes = {name: f"class{number}" for number, name in enumerate(classes, 1)}

    def text(self, said: str) -> str:
        """Without names and addresses."""
        renamed = _OF_CLASS.sub(lambda one: one[1] + self.class_name(one[2]), said)
        return _ADDRESS.sub(_HIDDEN, _WORD.sub(self._word, renamed))

    def class_name(self, name: str) -> str:
        """A class of hosts is called as the site likes: often an ordinary word."""
        return self._classes.get(name, name)

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        body = word.rstrip(".-")  # the end of a sentence is not part of a name
        new = self._set(body) if "[" in body else self._name(body)
        return word if new is None else new + word[len(body) :]

    def _name(self, word: str) -> str | None:
        word = word.lower()
        return self._names.get(word) or self._short.get(word.partition(".")[0])

    def _set(self, word: str) -> str | None:
        try:
            names = unfold(word)
        except RailwrightError:
            return None
        known = [self._name(name) for name in names]
        return fold([name for name in known if name]) if all(known) else None

    def leaks(self, said: str) -> bool:
        """Whether a name is in it still."""
        return any(self._name(one[0].rstrip(".-")) for one in _WORD.finditer(said))

    def value(self, value: Any) -> Any:
        """All texts in it, also the names of its parts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self._entry(name, one) for name, one in value.items()}
        return [self.value(one) for one in value] if isinstance(value, list | tuple) else value

    def _entry(self, name: str, value: Any) -> Any:
        if _is_free(name, value):
            return _HIDDEN
        return self.class_name(value) if name == "class" and value else self.value(value)


def redacted(page: Page) -> Page:
    """The same page under other names."""
    core = page.core
    hide = Redactor(core["hosts"]["name"], core["switches"]["name"], page.planned, page.classes)
    away = [_HIDDEN if one else "" for one in core["hosts"]["away"]]
    blocks = dict(page.blocks)
    for name, data in blocks.items():
        if name.startswith("words.") or name == "explained":
            blocks[name] = as_json(hide.value(_without_lines(json.loads(data))))
    done = hide.value(core)
    done["hosts"]["away"] = away
    done |= {"redacted": True, "rules": core["rules"], "title": hide.text(core["title"])}
    for waiver in (*done["expired"], *done["unused"]):  # whoever wrote them, and of what
        waiver["subjects"] = [_HIDDEN]
    _guard(hide.leaks, done, blocks)
    return Page(done, blocks, page.status, [], [])


def _without_lines(told: Any) -> Any:
    """Of what machines printed themselves nobody knows what else is in a line."""
    if not isinstance(told, dict):
        return told
    return {
        key: {n: [] if n == "lines" else v for n, v in one.items()} for key, one in told.items()
    }


def _guard(leaks: Callable[[str], bool], core: dict[str, Any], blocks: dict[str, bytes]) -> None:
    """Rather no page than one with a name in it."""
    own = {**core, "rules": [], "format": ""}
    texts = [json.dumps(own, ensure_ascii=False, default=str)]
    texts += [data.decode("utf-8", "replace") for n, data in blocks.items() if n[0] in "we"]
    if any(leaks(text) for text in texts):
        raise RailwrightError("a machine's name could not be replaced everywhere: nothing written")
