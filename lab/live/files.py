"""All files of a live host, and how a running host gets from one state to the next.

A path lies in one of three places: /sys and /proc are folders of the lab that are bind-mounted, so
what is written there is seen at once; everything else is the host's own layer over the shared root
file system. While the host runs, that layer is written through the host's own root, because an
overlay does not promise to notice changes below it.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from lab.fleet import fill_sys
from lab.fleet.model import HostModel
from lab.fleet.render import Said, programs_module
from lab.fleet.tools import ANSWERS, IN_BOTH, SCRIPT, answer_name, fill_identity, fill_tools
from lab.fleet.tree import Below, Entry, Folder, Memory
from lab.live.proc import fill_proc

SOCKET = "/run/railwright-lab.sock"
# The programs of the root file system that answer from /sys, where the model has no answer.
REAL = "opt/railwright-lab/real"
REAL_PROGRAMS = ("lspci",)
# Of the shared root file system, and read by probes: a host has only what its model gives it.
_HIDDEN = (
    *("etc/modules", "etc/security/limits.conf", "etc/environment"),
    "etc/systemd/system/multi-user.target.wants/slurmd.service",
)
# Bind mounts of single files would go on showing the old file after a rename.
_IN_PLACE = frozenset({"proc/modules", "proc/cmdline", "proc/cpuinfo", "proc/1/mountinfo"})
_IN_PLACE_TOO = "/sriov_numvfs"
# Of /sys, what can be written is mounted so: folders, and single files.
WRITABLE = (
    *("class/net/*/ecn", "class/net/*/qos", "class/infiniband/*/tc", "kernel/config"),
    *("devices/system/cpu", "bus/pci/devices/*/sriov_numvfs"),
)
# /proc/uptime is the kernel's own, moved by a time namespace: it goes on.
_KERNEL_TELLS = ("proc/uptime",)
HIDDEN = Entry(b"", 0o20000)  # how this module says: not there

# Touched whenever the files follow a new state: what is newer was written on the host since.
STAMP = "opt/railwright-lab/stamp"
WATCHED = "opt/railwright-lab/watched"  # the files that this is asked of, a line each
ASK = "opt/railwright-lab/ask"

_ASKS = f"""#!/usr/bin/python3
import json, socket, sys
argv = [sys.argv[0].rpartition("/")[2], *sys.argv[1:]]
if argv[0] == "ask":
    wish = {{"do": "sync"}}
elif argv[0] == "railwright-lab-run":
    wish = {{"do": "run", "argv": argv[1:]}}
else:
    wish = {{"do": "run", "argv": argv}}
asks = ("mlxconfig", "mstconfig", "mlxfwreset", "mstfwreset", "flint", "mstflint")
if wish["do"] == "run" and wish["argv"][0] in asks and not {{"-y", "-yy", "--yes"}} & set(argv):
    if {{"set", "s", "reset", "r", "burn", "b", "set_raw"}} & set(argv):
        wish["stdin"] = sys.stdin.readline(4096)
keeper = socket.socket(socket.AF_UNIX)
try:
    keeper.connect("{SOCKET}")
    keeper.sendall(json.dumps(wish).encode() + b"\\n")
    said = json.loads(keeper.makefile().readline() or "{{}}")
except (OSError, ValueError) as error:
    sys.exit(f"{{argv[0]}}: the lab's keeper cannot be asked: {{error}}")
sys.stdout.write(said.get("stdout", ""))
sys.stderr.write(said.get("stderr", said.get("error", "")))
sys.exit(said.get("code", 1 if "error" in said else 0))
"""
# Programs without answers of their own, or whose real ones would change this machine or nothing.
_ASKING = (
    *("reboot", "shutdown", "mstconfig", "mstfwreset", "mstflint", "setpci", "modprobe", "rmmod"),
    *("depmod", "update-grub", "update-grub2", "grub2-mkconfig", "grubby", "update-initramfs"),
    *("dracut", "cma_roce_tos", "cma_roce_mode", "cpupower", "ipmitool", "systemd-run"),
)
# Before an answer: has somebody written since? Then the keeper is asked to look first.
_LOOKS = f"""
while read -r file; do
  if [ "$file" -nt /{STAMP} ]; then /{ASK}; break; fi
done </{WATCHED}
answers="""
_REFUSES = "  echo \"this lab's"
_LIVE = SCRIPT.replace("\nanswers=", _LOOKS, 1)


def _or_else(program: str) -> str:
    """Run another program where there is no answer."""
    return _LIVE.replace(_REFUSES, f"  {program}\n{_REFUSES}")


_SCRIPT_OR_KEEPER = _or_else('exec /opt/railwright-lab/railwright-lab-run "${0##*/}" "$@"')
_SCRIPT_OR_REAL = _or_else(f'[ ! -x /{REAL}/${{0##*/}} ] || exec /{REAL}/${{0##*/}} "$@"')
Others = Mapping[str, HostModel]  # program -> the host as only it tells it


def rendered(
    host: HostModel, others: Others | None = None, instead: tuple[Said, ...] = ()
) -> Memory:
    """Every file of the host in this state; names as below its root.

    `others`: programs that lie, and what they tell; `instead`: answers in the place of usual ones.
    """
    files = Memory()
    fill_sys(Below(files, "sys"), host)
    fill_proc(files, host)
    fill_identity(files, host)
    fill_tools(files, host, IN_BOTH | set(REAL_PROGRAMS))
    for program, told in (others or {}).items():
        module = programs_module(program)
        for said in module.commands(told) if module is not None else ():
            _answer(files, said)
    for said in instead:
        _answer(files, said)
    for folder in ("usr/bin", "usr/sbin"):
        for name in [n for n in files.entries if n.startswith(f"{folder}/")]:
            files.entries[name] = Entry(_SCRIPT_OR_KEEPER.encode(), 0o755)
        files.write(folder, dict.fromkeys(REAL_PROGRAMS, _SCRIPT_OR_REAL), mode=0o755)
        files.write(folder, dict.fromkeys(_ASKING, _ASKS), mode=0o755)
    files.write("usr/sbin", {"systemctl": _SCRIPT_OR_KEEPER}, mode=0o755)
    both = {"ask": _ASKS, "railwright-lab-run": _ASKS}
    files.write("opt/railwright-lab", both, mode=0o755)
    files.write("opt/railwright-lab", {"stamp": "", "watched": ""})
    for name in _HIDDEN:
        files.entries.setdefault(name, HIDDEN)
    for name in _KERNEL_TELLS:
        del files.entries[name]
    files.make(ANSWERS)
    return files


def _answer(files: Memory, said: Said) -> None:
    program, *arguments = said.command.split(" ")
    name = answer_name(arguments)
    for end in ("err", "code"):
        files.entries.pop(f"{ANSWERS}/{program}/{name}.{end}", None)
    texts = {f"{name}.out": said.stdout}
    texts |= {f"{name}.err": said.stderr} if said.stderr else {}
    texts |= {f"{name}.code": f"{said.code}\n"} if said.code else {}
    files.write(f"{ANSWERS}/{program}", texts)


def in_lab(name: str) -> bool:
    """Whether a file lies in a folder of the lab rather than in the host's own layer."""
    return name.startswith(("sys/", "proc/"))


class Places:
    """Where a host's files are now."""

    def __init__(self, tree: Path, layer: Path, root: Path | None) -> None:
        self.tree = tree
        self.layer = root if root is not None else layer
        self.runs = root is not None

    def path(self, name: str) -> str:
        """From outside the host."""
        return f"{self.tree if in_lab(name) else self.layer}/{name}"


def write_all(places: Places, files: Memory) -> None:
    """A host that is not up yet, and has no files."""
    by_folder: dict[tuple[str, int], dict[str, bytes]] = {}
    links: dict[str, dict[str, str]] = {}
    for name, entry in files.entries.items():
        folder, _, file = name.rpartition("/")
        if entry.link:
            links.setdefault(folder, {})[file] = entry.link
        elif entry is not HIDDEN:
            by_folder.setdefault((folder, entry.mode), {})[file] = entry.content
    trees = {True: Folder(places.tree), False: Folder(places.layer)}
    for (folder, mode), contents in by_folder.items():
        trees[in_lab(f"{folder}/")].write(folder, contents, mode=mode)
    for folder, targets in links.items():
        trees[in_lab(f"{folder}/")].write(folder, {}, targets)
    for folder in files.folders:
        trees[in_lab(f"{folder}/")].make(folder)
    for name, entry in files.entries.items():
        if entry is HIDDEN:
            trees[False].make(name.rpartition("/")[0])
            _hide(places, name)


def rewrite(places: Places, old: Memory, new: Memory) -> list[str]:
    """Write what differs; the names of what was written or removed."""
    gone = [name for name in old.entries if name not in new.entries]
    changed = [n for n, entry in new.entries.items() if old.entries.get(n) != entry]
    for name in gone:
        Path(places.path(name)).unlink(missing_ok=True)  # somebody on the host may have been first
    for name in sorted(new.folders - old.folders):
        Path(places.path(f"{name}/")).mkdir(exist_ok=True)
    for name in changed:
        put(places, name, new.entries[name])
    for name in sorted(old.folders - new.folders, reverse=True):
        try:
            Path(places.path(f"{name}/")).rmdir()
        except OSError:  # of the root file system, or something else lies there
            pass
    return gone + changed


def _hide(places: Places, name: str) -> None:
    path = places.path(name)
    Path(path).unlink(missing_ok=True)
    if not places.runs:  # a character device 0/0 is how an overlay says "deleted"
        os.mknod(path, 0o600 | 0o020000, os.makedev(0, 0))


def put(places: Places, name: str, entry: Entry) -> None:
    """One file: beside, and renamed; in place where a single file is mounted."""
    path = places.path(name)
    if entry is HIDDEN:
        _hide(places, name)
    elif name in _IN_PLACE or name.endswith(_IN_PLACE_TOO):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, entry.mode)
        os.pwrite(handle, entry.content, 0)
        os.ftruncate(handle, len(entry.content))
        os.close(handle)
    else:
        beside = f"{path}.new"
        if entry.link:
            Path(beside).symlink_to(entry.link)
        else:
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, entry.mode)
            os.write(handle, entry.content)
            os.fchmod(handle, entry.mode)
            os.close(handle)
        Path(beside).rename(path)
