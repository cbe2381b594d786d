"""systemctl: services that probes read, and units that people wrote."""

from dataclasses import replace
from typing import TYPE_CHECKING

from lab.fleet.model import is_mlx5
from lab.fleet.system_model import Service, no_service
from lab.writes import boot, events
from lab.writes.outcome import KernelError, Outcome

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("systemctl",)
VERBS = ("enable", "disable", "start", "stop", "restart", "reload", "mask", "unmask",
         "is-enabled", "is-active", "daemon-reload", "reboot", "reload-or-restart")  # fmt: skip
NOT_ACTIVE, NOT_FOUND = 3, 5
DRIVER_SERVICE = "openibd"  # its restart loads mlx5_core anew


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """Every verb of VERBS; `show` is the renderer's."""
    del program, stdin
    words = [word for word in arguments if not word.startswith("-")]
    if not words or words[0] not in VERBS:
        return None
    verb, names = words[0], words[1:]
    if verb == "daemon-reload":
        return Outcome()
    if verb == "reboot":
        state.restart()
        return Outcome()
    if not names:
        return Outcome("", "Too few arguments.\n", 1)
    now = "--now" in arguments
    said, wrong, code = "", "", 0
    for word in names:
        if word.endswith(".timer") and word.removesuffix(".timer") in state.timers:
            code = _timer(state, verb, word.removesuffix(".timer")) or code
            continue
        name = word.removesuffix(".service")
        service = _service(state, name)
        done = _one(state, verb, name, service, now=now)
        said, wrong = said + done.stdout, wrong + done.stderr
        code = done.code or code
    return Outcome(said, wrong, code)


def _timer(state: "HostState", verb: str, unit: str) -> int:
    """A timer of systemd-run."""
    if verb == "stop":
        state.writing(f"{unit}.timer")
        del state.timers[unit]
    return 0


def _service(state: "HostState", name: str) -> Service:
    """A unit of the host, of people's own, or one that is not there."""
    found = state.services.get(name) or state.service(name)
    if found is not None and found.load != "not-found":
        return found
    if boot.unit_text(state, f"{name}.service"):
        enabled = f"{name}.service" in boot.enabled_units(state)
        file = "enabled" if enabled else "disabled"
        return Service(name, "loaded", "inactive", "dead", file)
    return found or no_service(name)


def _one(state: "HostState", verb: str, name: str, service: Service, *, now: bool) -> Outcome:
    if verb == "is-enabled":
        return Outcome(f"{service.file or 'not-found'}\n", "", int(service.file != "enabled"))
    if verb == "is-active":
        code = 0 if service.active == "active" else NOT_ACTIVE
        return Outcome(f"{service.active}\n", "", code)
    if service.load == "not-found":
        return _missing(verb, name[:200])
    if verb in ("enable", "disable"):
        return _enable(state, name, service, on=verb == "enable", now=now)
    if verb in ("mask", "unmask"):
        load, file = ("masked", "masked") if verb == "mask" else ("loaded", "disabled")
        state.set_service(replace(service, load=load, file=file))
        return Outcome()
    return _start(state, verb, name, service)


def _missing(verb: str, name: str) -> Outcome:
    if verb in ("enable", "disable", "mask", "unmask"):
        return Outcome("", f"Failed to {verb} unit: Unit file {name}.service does not exist.\n", 1)
    words = f"Failed to {verb} {name}.service: Unit {name}.service not found.\n"
    return Outcome("", words, NOT_FOUND)


def _enable(state: "HostState", name: str, service: Service, *, on: bool, now: bool) -> Outcome:
    if service.load == "masked":
        return Outcome("", f"Failed to enable unit: Unit file {name}.service is masked.\n", 1)
    words = ""
    path = f"{boot.UNITS}multi-user.target.wants/{name}.service"
    own = bool(boot.unit_text(state, f"{name}.service"))
    try:
        if own and on and state.overlay.files.get(path) is None:
            state.put_file(path, f"{boot.UNITS}{name}.service")
            words = f"Created symlink {path} → {boot.UNITS}{name}.service.\n"
        elif own and not on and state.overlay.files.get(path) is not None:
            state.put_file(path, None)
            words = f"Removed {path}.\n"
    except KernelError as error:
        return Outcome("", f"Failed to enable unit: {error.words}\n", 1)
    changed = replace(service, file="enabled" if on else "disabled")
    if changed != service:
        state.set_service(changed)
    if now:
        done = _start(state, "start" if on else "stop", name, changed)
        return Outcome("", words + done.stderr, done.code)
    return Outcome("", words)


def _start(state: "HostState", verb: str, name: str, service: Service) -> Outcome:
    if service.load == "masked" and verb != "stop":
        return Outcome("", f"Failed to {verb} {name}.service: Unit {name}.service is masked.\n", 1)
    if verb == "stop":
        state.set_service(replace(service, active="inactive", sub="dead"))
        return Outcome()
    if name == DRIVER_SERVICE and verb in ("restart", "reload-or-restart"):
        events.driver_loaded(state, [nic for nic in state.model().nics if is_mlx5(nic)])
    sub = service.sub if service.active == "active" else "running"
    state.set_service(replace(service, active="active", sub=sub))
    if boot.unit_text(state, f"{name}.service") and not boot.start_unit(state, f"{name}.service"):
        words = f"Job for {name}.service failed because the control process exited with error code."
        return Outcome("", f'{words}\nSee "systemctl status {name}.service" for details.\n', 1)
    return Outcome()
