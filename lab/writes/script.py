"""Running what a unit, a rule or a script of the host says: simple commands, and nothing more.

No variables, loops or tests: a line with one of these is left out as if it had gone well, and the
record says so.
"""

import re
import shlex
from typing import TYPE_CHECKING

from lab.writes.outcome import Outcome

if TYPE_CHECKING:
    from lab.writes.state import HostState

SHELLS = frozenset({"sh", "bash", "dash"})
_UNKNOWN = re.compile(r"\$|`|^\s*(for|while|if|case|until|function|do|done|fi|then|else|esac)\b")
_NOTHING = frozenset({"echo", "true", ":", "sleep", "exit", "set", "printf"})
DEEPEST = 4


def run_text(state: "HostState", text: str, depth: int = 0) -> Outcome:
    """Each line; the last one's outcome."""
    last = Outcome()
    for line in text.replace("\\\n", " ").splitlines()[:1000]:
        if line.strip() and not line.lstrip().startswith("#"):
            last = run_line(state, line, depth)
    return last


def run_line(state: "HostState", line: str, depth: int = 0) -> Outcome:
    """Commands with ;, && and || between them."""
    if _UNKNOWN.search(line):
        state.note(f"not understood: {line.strip()[:200]}")
        return Outcome()
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        words = list(lexer)
    except ValueError:
        state.note(f"not understood: {line.strip()[:200]}")
        return Outcome()
    last, joined = Outcome(), ";"
    command: list[str] = []
    for word in [*words, ";"]:
        if word in (";", "&&", "||"):
            fits = joined == ";" or (joined == "&&") == (last.code == 0)
            if command and fits:
                last = _command(state, command, depth)
            command, joined = [], word
        else:
            command.append(word)
    return last


def _command(state: "HostState", words: list[str], depth: int) -> Outcome:
    program = words[0].rpartition("/")[2]
    if ">" in words and words.index(">") == len(words) - 2:
        said = " ".join(words[1:-2]) if program in ("echo", "printf") else ""
        return state.write_file(words[-1], said.replace("\\n", "") + "\n")
    if depth >= DEEPEST:
        return Outcome("", "too deep\n", 2)
    if program in SHELLS and words[1:2] in (["-c"], ["-ec"]):
        return run_text(state, words[2] if len(words) > 2 else "", depth + 1)
    path = words[1] if program in SHELLS and len(words) > 1 else words[0]
    content = state.overlay.files.get(path)
    if isinstance(content, bytes) and path.startswith("/"):
        return _file(state, path, content.decode("utf-8", "replace"), depth)
    return Outcome() if program in _NOTHING else state.run(words)


def _file(state: "HostState", path: str, text: str, depth: int) -> Outcome:
    first = text.partition("\n")[0]
    if first.startswith("#!") and first.split("/")[-1].split(" ")[-1] not in SHELLS:
        state.note(f"not understood: {path} is not a shell script")
        return Outcome()
    return run_text(state, text, depth + 1)
