"""A cluster to look at and to break, on one machine: `python -m lab --help`, docs/lab.md."""

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from lab.live import client
from lab.live.options import Options
from lab.live.part import LabError
from lab.live.place import Place
from lab.sshd_fleet import LAB
from lab.writes import KINDS

DEFAULT = LAB / "live"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lab",
        description="A GPU cluster that is not there: hosts with real sshd that answer as their "
        "models do, to collect from and to break. Needs root. See docs/lab.md.",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=DEFAULT,
        help="where the lab keeps its files (%(default)s)",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    up = commands.add_parser("up", help="start a lab")
    up.add_argument("--hosts", type=int, default=8, help="how many (%(default)s)")
    up.add_argument("--models", default="", help="which kinds, with commas; all in turns otherwise")
    up.add_argument("--rails", type=int, default=0, help="HGX hosts of one fabric with N rails")
    up.add_argument("--switches", type=int, default=0, help="how many")
    up.add_argument(
        "--planes",
        type=int,
        default=1,
        help="of the switches: 2 = a card's two ports (%(default)s)",
    )
    up.add_argument("--guests", type=int, default=0, help="virtual machines with Soft-RoCE")
    up.add_argument("--slurm", action="store_true", help="with Slurm on all hosts")
    up.add_argument(
        "--seconds-to-boot", type=float, default=2.0, help="how long a restart takes (%(default)s)"
    )
    commands.add_parser("status", help="what is up, and which faults it has")
    strike = commands.add_parser("break", help="put a fault into a machine")
    strike.add_argument("machine", nargs="?", default="")
    strike.add_argument("fault", nargs="?", default="")
    strike.add_argument("--at", default="", help="the card or GPU, as mlx5_3; the first otherwise")
    strike.add_argument(
        "--earlier", action="store_true",
        help="as the machine was before the fault showed: for a first snapshot",
    )  # fmt: skip
    strike.add_argument("--list", action="store_true", help="the faults that there are")
    heal = commands.add_parser("heal", help="take the faults out of a machine, or of all")
    heal.add_argument("machine", nargs="?", default="")
    commands.add_parser("reboot", help="restart a machine").add_argument("machine")
    power = commands.add_parser("power-cycle", help="take a machine's power away and give it back")
    power.add_argument("machine")
    order = commands.add_parser("misbehave", help="make the tools of a machine misbehave")
    order.add_argument("machine", nargs="?", default="")
    order.add_argument("kind", nargs="?", default="")
    order.add_argument("--at", default="", help="a device, netdev, PCI address or path")
    order.add_argument("--value", default="", help="what a second writer runs")
    order.add_argument("--times", type=int, default=0, help="how often; until `behave` otherwise")
    order.add_argument("--list", action="store_true", help="the kinds that there are")
    behave = commands.add_parser("behave", help="take misbehaviour out of a machine")
    behave.add_argument("machine")
    run = commands.add_parser("run", help="run a program where the machines can be reached")
    run.add_argument("words", nargs=argparse.REMAINDER, metavar="-- PROGRAM ...")
    commands.add_parser("shell", help="the same with your shell")
    commands.add_parser("down", help="end everything; leaves nothing")
    return parser


def _up(place: Place, given: argparse.Namespace) -> None:
    models = tuple(name.strip() for name in given.models.split(",") if name.strip())
    options = Options(
        given.hosts, models, given.rails, given.switches, given.planes, given.guests, given.slurm,
        given.seconds_to_boot,
    )  # fmt: skip
    client.start(place, options, lambda words: print(words, file=sys.stderr))
    _print_status(client.ask(place, {"do": "status"}), place, short=True)


def _status(place: Place, _: argparse.Namespace) -> None:
    _print_status(client.ask(place, {"do": "status"}), place)


def _print_status(said: dict[str, Any], place: Place, *, short: bool = False) -> None:
    for part, machines in said["machines"].items():
        up = sum(one["state"] == "up" for one in machines)
        print(f"{part}: {up} of {len(machines)} up")
        for one in machines:
            if not short or one["faults"] or one["state"] != "up":
                faults = ", ".join(one["faults"])
                print(f"  {one['name']:14} {one['kind']:20} {one['state']:8} {faults}".rstrip())
    folder = "" if place == Place(DEFAULT.resolve()) else f" --folder {place.folder}"
    words = shlex.join(said["collect"])
    print(f"Next: python -m lab{folder} run -- {words}")


def _break(place: Place, given: argparse.Namespace) -> None:
    if given.list or not given.fault:
        said = client.ask(place, {"do": "faults", "machine": given.machine})
        for part, faults in said["faults"].items():
            for name, words in faults.items():
                print(f"{part:9} {name:34} {words}")
        if not given.list:
            raise LabError("Say which machine and which fault: break HOST FAULT [--at mlx5_3].")
        return
    _say(
        client.ask(
            place,
            {
                "do": "break", "machine": given.machine, "fault": given.fault, "at": given.at,
                "earlier": given.earlier,
            },
        )
    )  # fmt: skip


def _heal(place: Place, given: argparse.Namespace) -> None:
    said = client.ask(place, {"do": "heal", "machine": given.machine})
    _say(said if said["said"] else {"said": ["nothing has a fault"]})


def _reboot(place: Place, given: argparse.Namespace) -> None:
    _say(client.ask(place, {"do": "reboot", "machine": given.machine}))


def _power_cycle(place: Place, given: argparse.Namespace) -> None:
    _say(client.ask(place, {"do": "reboot", "machine": given.machine, "power": True}))


def _misbehave(place: Place, given: argparse.Namespace) -> None:
    if given.list or not given.kind:
        for kind, (at, what) in KINDS.items():
            print(f"{kind:20} {what}" + (f"; at: {at}" if at else ""))
        if not given.list:
            raise LabError("Say which machine and which kind: misbehave HOST KIND [--at mlx5_3].")
        return
    wish = {name: getattr(given, name) for name in ("machine", "kind", "at", "value", "times")}
    _say(client.ask(place, {"do": "misbehave", **wish}))


def _behave(place: Place, given: argparse.Namespace) -> None:
    _say(client.ask(place, {"do": "behave", "machine": given.machine}))


def _say(said: dict[str, Any]) -> None:
    print("\n".join(said["said"]))


def _down(place: Place, _: argparse.Namespace) -> None:
    print(client.end(place))


# At the hub, under its name, with the lab's ssh configuration in the place of this machine's own.
_INSIDE = """\
hostname labhub
[ ! -d /etc/ssh/ssh_config.d ] || mount --bind "$1" /etc/ssh/ssh_config.d
shift
exec "$@"
"""


def _run(place: Place, given: argparse.Namespace) -> None:
    words = given.words[1:] if given.words[:1] == ["--"] else given.words
    if not words:
        raise LabError("Say what to run: python -m lab run -- railwright collect -w HOST")
    _replace_by(place, words)


def _shell(place: Place, _: argparse.Namespace) -> None:
    _replace_by(place, [os.environ.get("SHELL", "/bin/bash")])


def _replace_by(place: Place, words: list[str]) -> None:
    said = client.ask(place, {"do": "status"})
    os.environ.update(said["environment"])
    # The program of the interpreter that this lab was started with comes first.
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
    command = [
        "ip", "netns", "exec", said["hub"], "unshare", "--mount", "--uts", "--propagation",
        "slave", "sh", "-c", _INSIDE, "sh", str(place.ssh), *words,
    ]  # fmt: skip
    os.execvp(command[0], command)


_DOES = {
    "up": _up,
    "status": _status,
    "break": _break,
    "heal": _heal,
    "reboot": _reboot,
    "power-cycle": _power_cycle,
    "misbehave": _misbehave,
    "behave": _behave,
    "run": _run,
    "shell": _shell,
    "down": _down,
}


def main() -> None:
    given = _parser().parse_args()
    try:
        client.need_root()
        # Mounts are listed by where they really are.
        _DOES[given.command](Place(given.folder.resolve()), given)
        sys.stdout.flush()
    except LabError as error:
        sys.exit(f"lab: {error}")
    except KeyboardInterrupt:
        sys.exit("lab: interrupted")
    except BrokenPipeError:  # whoever read has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
