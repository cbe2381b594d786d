"""sysctl of procps."""

from typing import TYPE_CHECKING

from lab.writes import boot
from lab.writes.attributes import set_setting
from lab.writes.outcome import KernelError, Outcome

if TYPE_CHECKING:
    from lab.writes.state import HostState

PROGRAMS = ("sysctl",)


def run(state: "HostState", program: str, arguments: list[str], stdin: str) -> Outcome | None:
    """`-w NAME=VALUE …`, `-p [FILE]`, `--system`, and names to read."""
    del program, stdin
    if "--system" in arguments:
        boot.settings_of_files(state)
        return Outcome()
    if arguments[:1] in (["-p"], ["--load"]):
        return _file(state, arguments[1:] or ["/etc/sysctl.conf"])
    words = [word for word in arguments if not word.startswith("-")]
    plain = any(word in ("-n", "--values") for word in arguments)
    said, wrong, code = "", "", 0
    for word in words:
        name, equals, value = word.partition("=")
        clean = name.strip().replace("/", ".")
        if not equals and ("-w" in arguments or not clean):
            wrong += f'sysctl: "{word[:200]}" must be of the form name=value\n'
            code = 1
            continue
        try:
            if equals:
                set_setting(state, clean, value.strip())
                said += f"{value.strip()}\n" if plain else f"{clean} = {value.strip()}\n"
            else:
                said += _shown(state, clean, plain=plain)
        except KernelError as error:
            code = 1
            wrong += _words(clean, error)
    return Outcome("" if "-q" in arguments else said, wrong, code)


def _words(name: str, error: KernelError) -> str:
    path = "/proc/sys/" + name[:200].replace(".", "/")
    if error.name == "ENOENT":
        return f"sysctl: cannot stat {path}: {error.words}\n"
    return f'sysctl: setting key "{name[:200]}": {error.words}\n'


def _shown(state: "HostState", name: str, *, plain: bool) -> str:
    content = state.read_file("/proc/sys/" + name.replace(".", "/"))
    if content is None:
        raise KernelError("ENOENT")
    value = content.decode("utf-8", "replace").strip()
    return f"{value}\n" if plain else f"{name} = {value}\n"


def _file(state: "HostState", paths: list[str]) -> Outcome:
    said, wrong = "", ""
    for path in paths:
        content = state.read_file(path)
        if content is None:
            wrong += f'sysctl: cannot open "{path[:200]}": No such file or directory\n'
            continue
        for name, value in boot.setting_lines(content.decode("utf-8", "replace")):
            try:
                set_setting(state, name, value)
                said += f"{name} = {value}\n"
            except KernelError as error:
                wrong += _words(name, error)
    return Outcome(said, wrong, int(bool(wrong)))
