"""update-grub, grubby, update-initramfs, dracut: the line that the kernel is started with next."""

import re
import shlex
from typing import TYPE_CHECKING

from lab.fleet.render.boot import DEFAULTS, IMAGE, menu_of
from lab.writes import boot
from lab.writes.outcome import KernelError, Outcome, refused

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("update-grub", "update-grub2", "grub-mkconfig", "grub2-mkconfig", "grubby",
            "update-initramfs", "dracut", "rdma_topo")  # fmt: skip
_DEFAULT = "GRUB_CMDLINE_LINUX_DEFAULT"
_ALWAYS = "GRUB_CMDLINE_LINUX"
_ASSIGNMENT = re.compile(r"^\s*([A-Z_]+)(\+?)=(.*)$")


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """Make the boot entry from what the files say, or change it."""
    del stdin
    if program in ("update-initramfs", "dracut"):
        release = state.model().kernel.release
        return Outcome(f"{program}: Generating /boot/initrd.img-{release}\n")
    if program == "rdma_topo":
        return None
    try:
        if program == "grubby":
            return _grubby(state, arguments)
        return _update(state)
    except KernelError as error:
        raise refused(f"{program}: {error.words}\n") from None


def _assigned(state: "HostState") -> dict[str, str]:
    """Variables of /etc/default/grub and of grub.d/*.cfg, as the shell that reads them has them."""
    texts = [(state.read_file(DEFAULTS) or b"").decode("utf-8", "replace")]
    texts += [text for _, text in boot.written(state, f"{DEFAULTS}.d/", ".cfg")]
    found: dict[str, str] = {}
    for line in "\n".join(texts).splitlines():
        match = _ASSIGNMENT.match(line)
        if match is None:
            continue
        try:
            value = "".join(shlex.split(match[3], comments=True)[:1])
        except ValueError:
            words = "Syntax error: Unterminated quoted string"
            raise refused(f"/usr/sbin/grub-mkconfig: {DEFAULTS}: {words}\n", 2) from None
        for name in (_DEFAULT, _ALWAYS):
            before = found.get(name, "")
            value = value.replace(f"${{{name}}}", before)
            parts = re.split(rf"\${name}(?![A-Z_])", value)
            value = before.join(parts)
        found[match[1]] = found.get(match[1], "") + value if match[2] else value
    return found


def _update(state: "HostState") -> Outcome:
    given = _assigned(state)
    words = (_root(state), given.get(_ALWAYS, ""), given.get(_DEFAULT, ""))
    _write(state, " ".join(word for word in words if word))
    image = f"/boot/vmlinuz-{state.base.kernel.release}"
    said = "Sourcing file `/etc/default/grub'\nGenerating grub configuration file ...\n"
    return Outcome("", f"{said}Found linux image: {image}\ndone\n")


def _root(state: "HostState") -> str:
    """The words of the kernel's line that GRUB itself puts in front."""
    words = [w for w in state.base.kernel.command_line.split() if not w.startswith(IMAGE)]
    return " ".join(w for w in words if w.startswith("root=") or w in ("ro", "rw"))


def _write(state: "HostState", line: str) -> None:
    for path, text in menu_of(state.model(), line).items():
        state.put_file(path, text.encode())


def _grubby(state: "HostState", arguments: list[str]) -> Outcome:
    entry = boot.next_line(state)
    if entry is None:
        return Outcome("", "grubby: no entry of the boot loader was found\n", 1)
    image, line = entry
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not equals and name in ("--args", "--remove-args", "--info", "--update-kernel") and rest:
            value = rest.pop(0)
        given[name] = value
    if "--info" in given:
        root = next((w for w in line.split() if w.startswith("root=")), "root=")
        others = " ".join(word for word in line.split() if not word.startswith("root="))
        return Outcome(f'index=0\nkernel="{image}"\nargs="{others}"\nroot="{root[5:]}"\n')
    if "--default-kernel" in given:
        return Outcome(f"{image}\n")
    if "--update-kernel" not in given:
        return Outcome("", "grubby: bad argument\n", 1)
    words = line.split()
    for one in given.get("--remove-args", "").split():
        words = [w for w in words if w != one and ("=" in one or w.partition("=")[0] != one)]
    for one in given.get("--args", "").strip("\"'").split():
        name = one.partition("=")[0]
        words = [w for w in words if w.partition("=")[0] != name] + [one]
    _write(state, " ".join(words))
    return Outcome()
