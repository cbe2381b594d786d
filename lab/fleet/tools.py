"""What the host's tools answer, live: a file per answer, and one shell script that finds it.

The script uses nothing but shell builtins and `cat`, so that it runs in any root, even one that
holds a single static busybox.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from lab.fleet.model import HostModel
from lab.fleet.render import all_commands, all_files
from lab.fleet.tree import Folder, Tree

ANSWERS = "opt/railwright-lab/answers"
BUSYBOX = Path("/bin/busybox")

# Programs for administrators; all others are in usr/bin.
SYSTEM_PROGRAMS = frozenset(
    {
        *("lldpctl", "ip", "rdma", "devlink", "dcb", "ethtool", "lsmod", "sysctl"),
        *("ibstat", "show_gids"),
        # A lab host has the real one in usr/bin, which is found first and reads the host's /sys.
        "lspci",
    }
)
# Debian has these two in usr/bin; where both are, that one is found first.
IN_BOTH = frozenset({"ip", "rdma"})

# The name of an answer: its arguments, each with `_` in front and % for /. A PCI address may leave
# out the domain 0000, as people write it.
SCRIPT = f"""#!/bin/sh
answers=/{ANSWERS}/${{0##*/}}
name= long=
for word in "$@"; do
  safe=
  while :; do
    case "$word" in
      */*) safe=$safe${{word%%/*}}%; word=${{word#*/}} ;;
      *) break ;;
    esac
  done
  name=${{name}}_$safe$word
  case "$word" in
    [0-9a-f][0-9a-f]:[0-9a-f][0-9a-f].[0-7]) word=0000:$word ;;
  esac
  long=${{long}}_$safe$word
done
name=${{name:-_}}
# An address that no model knows: whoever came in over ssh has it.
case "${{0##*/}} $*" in
  "ip -j route get "*" from "*) name=_-j_route_get; printf '[{{"dst":"%s","from":"%s",' "$4" "$6" ;;
esac
[ -r "$answers/$name.out" ] || name=${{long:-_}}
if [ ! -r "$answers/$name.out" ]; then
  echo "this lab's ${{0##*/}} has no answer to: ${{0##*/}} $*" >&2
  exit 1
fi
cat "$answers/$name.out"
[ ! -r "$answers/$name.err" ] || cat "$answers/$name.err" >&2
code=0
[ ! -r "$answers/$name.code" ] || read -r code <"$answers/$name.code"
exit "$code"
"""


def answer_name(arguments: list[str]) -> str:
    """How the script names the answer to these arguments."""
    return "".join(f"_{word.replace('/', '%')}" for word in arguments) or "_"


def write_tools(root: Path, host: HostModel) -> None:
    """Every program with its answers, and every file outside /sys, below a root folder."""
    fill_tools(Folder(root), host)


def fill_tools(files: Tree, host: HostModel, in_both: frozenset[str] = IN_BOTH) -> None:
    """The same into a tree; `in_both` are programs that go to usr/bin and usr/sbin."""
    _fill_programs(files, _answers(host), in_both)
    write_files(files, {p: text for p, text in all_files(host).items() if not in_sys(p)})
    for path, target in host.files.items():
        if isinstance(target, str):
            folder, _, name = path.lstrip("/").rpartition("/")
            files.write(folder, {}, {name: target})


def write_programs(root: Path, host: HostModel, only: frozenset[str] | None = None) -> None:
    """Programs with their answers, below a root folder: all of them, or those of these names."""
    chosen = {p: said for p, said in _answers(host).items() if only is None or p in only}
    _fill_programs(Folder(root), chosen, IN_BOTH)


def _fill_programs(
    files: Tree, programs: dict[str, dict[str, str]], in_both: frozenset[str]
) -> None:
    for program, answers in programs.items():
        files.write(f"{ANSWERS}/{program}", answers)
    system = {program: SCRIPT for program in programs if program in SYSTEM_PROGRAMS}
    usual = {p: SCRIPT for p in programs if p not in SYSTEM_PROGRAMS or p in in_both}
    files.write("usr/sbin", system, mode=0o755)
    files.write("usr/bin", usual, mode=0o755)


def _answers(host: HostModel) -> dict[str, dict[str, str]]:
    """Program -> file -> content."""
    programs: dict[str, dict[str, str]] = {}
    for said in all_commands(host):
        program, *arguments = said.command.split(" ")
        answers = programs.setdefault(program, {})
        name = answer_name(arguments)
        if f"{name}.out" in answers:
            raise ValueError(f"two answers to: {said.command}")
        answers[f"{name}.out"] = said.stdout
        if said.stderr:
            answers[f"{name}.err"] = said.stderr
        if said.code:
            answers[f"{name}.code"] = f"{said.code}\n"
    return programs


def in_sys(path: str) -> bool:
    """Whether a renderer's file is part of /sys."""
    return path.startswith("/sys/")


def write_files(folder: Tree, files: Mapping[str, str | bytes]) -> None:
    """Absolute paths, written below a folder."""
    by_folder: dict[str, dict[str, str | bytes]] = {}
    for path, content in files.items():
        name, _, file = path.lstrip("/").rpartition("/")
        by_folder.setdefault(name, {})[file] = content
    for name, contents in by_folder.items():
        folder.write(name, contents)


def write_identity(root: Path, host: HostModel) -> None:
    """What a host says about itself, where no real root says it."""
    fill_identity(Folder(root), host)


def fill_identity(files: Tree, host: HostModel) -> None:
    """The same into a tree."""
    words = {"Ubuntu": "ubuntu", "Rocky": "rocky", "Red": "rhcos"}
    distribution = words.get(host.operating_system.split(" ")[0], "linux")
    release = f'PRETTY_NAME="{host.operating_system}"\nID={distribution}\n'
    files.write("etc", {"os-release": release})
    files.write("proc/sys/kernel", {"hostname": f"{host.calls_itself or host.name}\n"})
    files.write("proc/sys/kernel/random", {"boot_id": f"{host.boot_id}\n"})
    # Then the time that all CPUs together were idle.
    idle = host.uptime_s * host.cpu.sockets * host.cpu.cores_per_socket
    files.write("proc", {"uptime": f"{host.uptime_s:.2f} {idle:.2f}\n"})


def add_shell(root: Path) -> None:
    """A shell and `cat`, so that the tools run with this folder as root."""
    (root / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy2(BUSYBOX, root / "bin/busybox")
    for name in ("sh", "cat"):
        (root / "bin" / name).unlink(missing_ok=True)
        (root / "bin" / name).hardlink_to(root / "bin/busybox")
