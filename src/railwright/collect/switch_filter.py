"""What of a switch's answer is kept: known fields and known lines; the rest is dropped and counted.

A configuration holds keys of TACACS, RADIUS, SNMP, BGP and LDAP, and descriptions in which people
write anything. What is not on a list is not stored, whoever brought it: a session or `import`.
Nothing but the kept part ever reaches the spool.
"""

import json
import re
from typing import Any

from railwright.parse.base import NotUnderstoodError, text_of
from railwright.parse.json_text import json_values

_ASIC = re.compile(r"localhost|asic[0-9]{1,3}", re.ASCII)
# What a CLI says in place of an answer. Of these lines only the known words in front are kept.
_ERROR = re.compile(
    r"\s{0,20}(?:%|Error:|ERROR:|Usage:|Root privileges)[A-Za-z0-9 ,.:'\"_|/-]{0,160}", re.ASCII
)


class Kept:
    """An answer after its filter."""

    def __init__(self, rule: dict[str, Any]) -> None:
        self._leaves = frozenset(rule.get("leaves", ()))
        # A running configuration as JSON has whole commands as keys.
        self._container = re.compile(rule.get("containers", r"[A-Za-z0-9_.:/|@-]{1,128}"), re.ASCII)
        self._key = re.compile(rule.get("leaf_pattern", r"(?!)"), re.ASCII)
        self._texts = {k: re.compile(v, re.ASCII) for k, v in rule.get("texts", {}).items()}
        self._lines = [re.compile(pattern, re.ASCII) for pattern in rule.get("lines", ())]
        self._tables = {
            table: re.compile(fields, re.ASCII) for table, fields in rule.get("tables", {}).items()
        }
        self._value = re.compile(rule.get("value", r"(?s:.{0,200})"), re.ASCII)
        self.dropped = 0

    def of(self, data: bytes) -> bytes:
        """What may be stored. Raises NotUnderstoodError where the answer cannot be taken apart."""
        text = text_of(data)
        values = list(json_values(text))
        if not values:
            return self._of_text(text)
        if self._tables:
            kept: list[object] = [_merged([self._database(value) for value in values])]
        else:
            kept = [self._walk(value) for value in values]
        return "".join(json.dumps(value) + "\n" for value in kept).encode()

    # JSON: objects stay as they are; a value stays if its key is known

    def _walk(self, value: object) -> object:
        if isinstance(value, dict):
            return {
                self._name(key): kept
                for key, part in value.items()
                for kept in self._member(key, part)
            }
        if isinstance(value, list):
            return [self._walk(part) for part in value if isinstance(part, (dict, list))]
        return None

    def _name(self, key: str) -> str:
        """The key, or where it might say anything a number in its place: what is below counts."""
        if key in self._leaves or self._key.fullmatch(key) or self._container.fullmatch(key):
            return key
        self.dropped += 1
        return f"?{self.dropped}"

    def _member(self, key: str, value: object) -> list[object]:
        is_known = key in self._leaves or self._key.fullmatch(key) is not None
        if isinstance(value, dict):
            return [self._walk(value)]
        if isinstance(value, list):
            plain = [part for part in value if not isinstance(part, (dict, list))]
            if plain and is_known:
                return [[part for part in value if self._says(key, part)]]
            self.dropped += len(plain)
            return [self._walk(value)]
        if is_known and self._says(key, value):
            return [value]
        self.dropped += 1
        return []

    def _says(self, key: str, value: object) -> bool:
        """Whether a value of a known key is of the form that it may have."""
        if not isinstance(value, str):
            return True
        form = self._texts.get(key)
        if form is None or form.fullmatch(value):
            return len(value) <= 400
        self.dropped += 1
        return False

    # SONiC's databases: tables and fields by name, in every form that they are saved in

    def _database(self, value: object) -> dict[str, object]:
        if not isinstance(value, dict):
            return {}
        kept: dict[str, object] = {}
        for name, node in value.items():
            table, is_flat, _ = name.partition("|")
            fields = self._tables.get(table)
            if _ASIC.fullmatch(name) and isinstance(node, dict):
                kept[name] = self._database(node)
            elif fields is None or not isinstance(node, dict):
                self.dropped += 1
            elif is_flat:
                kept[name] = self._entry(node, fields)
            else:
                kept[name] = {
                    key: self._entry(entry, fields)
                    for key, entry in node.items()
                    if isinstance(entry, dict)
                }
        return kept

    def _entry(self, entry: dict[str, object], fields: re.Pattern[str]) -> dict[str, object]:
        inner = entry.get("value")
        if isinstance(inner, dict) and entry.get("type") == "hash":  # sonic-db-dump
            return {"type": "hash", "value": self._fields(inner, fields)}
        return self._fields(entry, fields)

    def _fields(self, entry: dict[str, object], fields: re.Pattern[str]) -> dict[str, object]:
        kept: dict[str, object] = {}
        for name, value in entry.items():
            words = value if isinstance(value, list) else [value]
            is_plain = all(isinstance(w, str) and self._value.fullmatch(w) for w in words)
            # `NULL` is how Redis keeps an entry without fields.
            if is_plain and (fields.fullmatch(name) or name == "NULL"):
                kept[name] = value
            else:
                self.dropped += 1
        return kept

    # text

    def _of_text(self, text: str) -> bytes:
        lines = text.split("\n")
        last = lines.pop()
        kept = [part for line in lines for part in self._line(line)]
        # A last line without its end may have been cut in a number: it stays so.
        return ("".join(f"{line}\n" for line in kept) + "".join(self._line(last))).encode()

    def _line(self, line: str) -> list[str]:
        if not line.strip() or any(pattern.match(line) for pattern in self._lines):
            return [line]
        found = _ERROR.match(line)
        if found and found[0].strip():
            return [found[0]]
        self.dropped += 1
        return []


def _merged(databases: list[dict[str, object]]) -> dict[str, object]:
    """The tables of several printouts as one: they were asked for one by one."""
    found: dict[str, object] = {}
    for database in databases:
        for name, node in database.items():
            known = found.get(name)
            both = isinstance(known, dict) and isinstance(node, dict)
            found[name] = {**known, **node} if both else node  # type: ignore[dict-item]
    return found


def keep(data: bytes, rule: dict[str, Any]) -> tuple[bytes, int, str]:
    """What may be stored, how much was dropped, and why nothing is left ('' = something is)."""
    filtered = Kept(rule)
    try:
        kept = filtered.of(data)
    except NotUnderstoodError as error:
        return b"", 1, str(error)
    if data.strip() and not kept.strip():
        return b"", max(filtered.dropped, 1), "nothing in it is what is kept of this answer"
    return kept, filtered.dropped, ""
