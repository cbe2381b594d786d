"""Which system a switch has, where it is not the one that was said: told by how it greets.

A banner may say anything, so by itself it is no proof: it only names the system where the prompt or
a refused line has shown already that it is not the one that was asked for.
"""

import re

from railwright.collect.switch import System, systems

# user@host:path$, as the shells of SONiC and Cumulus Linux have it. No CLI here prompts so.
_SHELL_PROMPT = re.compile(r"[\w.-]{1,64}@[\w.:-]{1,128}:[~/][^\s$#]{0,100}[$#]", re.ASCII)


def is_shell_prompt(line: str) -> bool:
    """Whether a Linux shell waits for input."""
    return _SHELL_PROMPT.fullmatch(line.strip()) is not None


def refuses(system: System, text: str) -> bool:
    """Whether these are the words of a CLI that does not know a command."""
    return any(re.search(pattern, text, re.MULTILINE) for pattern in system.refused)


def other_system(system: System, greeting: str, way: str) -> str:
    """`this is SONiC, not Arista EOS`, or what can be said where it does not name itself.

    `way` is how it has shown that it is spoken with: one of the ways of a system.
    """
    others = [one for one in systems().values() if one.name != system.name and one.way == way]
    for one in others:
        if any(re.search(pattern, greeting) for pattern in one.banners):
            return f"this is {one.title}, not {system.title}: write ={one.name}"
    titles = " and ".join(one.title for one in others) + (" have" if len(others) > 1 else " has")
    names = " or ".join(f"={one.name}" for one in others)
    what = "a Linux shell" if way == "shell" else "a command line of its own"
    return f"this is {what}, not {system.title}: {titles} one, write {names}"


def not_a_shell(system: System, output: bytes) -> str:
    """Why a system that has a shell did not run the script: another one answered, or ''."""
    text = output[:4096].decode("utf-8", "replace").replace("\r", "")
    known = [one for one in systems().values() if one.way == "terminal"]
    named = any(re.search(pattern, text) for one in known for pattern in one.banners)
    if named or any(refuses(one, text) for one in known):
        return other_system(system, text, "terminal")
    return ""
