"""The runner, run for real behind the one constant: shells, limits, endings, and what it writes."""

import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.fleet import build, hgx_h100
from railwright.collect.explain import OWN_FILES, explained
from railwright.collect.probe import probes
from railwright.collect.request import RUNNER, Request, lone_runner, new_request
from railwright.reach.bootstrap import INTERPRETERS, NO_PYTHON, REMOTE_COMMAND, START
from tests.reading import (
    BARE,
    answers,
    command,
    files,
    frames_of,
    output_of,
    program_with,
    request,
    start,
    writes,
)

ALIVE_SHELLS = ["/bin/sh", "bash", "tcsh", "fish"]


def old_interpreters() -> list[str]:
    """The oldest interpreters this machine can have: Debian's pypy3, and any CPython it holds."""
    found = [shutil.which("pypy3") or ""]
    held = Path.home() / ".pyenv/versions"
    for minor in (6, 7, 8, 9, 10, 12, 13):
        found += [str(p) for p in sorted(held.glob(f"3.{minor}.*/bin/python3"))[:1]]
    return [path for path in found if path]


# ---- the constant ---------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ALIVE_SHELLS)
def test_the_constant_works_under_every_login_shell(shell: str) -> None:
    assert shutil.which(shell), f"{shell} is not installed"
    got = answers(request(command("uname", "uname", "-s")), argv=[shell, "-c", REMOTE_COMMAND])
    assert got["uname", ""].stdout == b"Linux\n"


def test_a_chatty_bashrc_is_noise_and_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("echo Welcome; printf 'no newline'; echo to stderr >&2\n")
    process = start(
        request(command("uname", "uname", "-s")),
        # sshd runs bash so that it reads .bashrc; --rcfile and -i stand in for that here.
        argv=["bash", "--rcfile", str(tmp_path / ".bashrc"), "-i", "-c", REMOTE_COMMAND],
        start_new_session=True,
    )
    output, _ = output_of(process)
    _, reader = frames_of(output)
    assert reader.complete
    assert reader.noise.startswith(b"Welcome\nno newline")


def test_the_constant_has_nothing_that_a_shell_could_read_otherwise() -> None:
    inner = REMOTE_COMMAND.removeprefix("exec /bin/sh -c '").removesuffix("'")
    assert not set("'\\!\n`") & set(inner)
    assert START in RUNNER.read_text(), "the runner starts its root runner with another text"
    assert INTERPRETERS[:2] == ("python3", "/usr/libexec/platform-python")
    assert [name for name in INTERPRETERS if name.startswith("python3.")] == [
        f"python3.{minor}" for minor in range(6, 15)
    ]


def test_it_finds_an_interpreter_that_only_has_a_versioned_name(tmp_path: Path) -> None:
    (tmp_path / "python3.9").symlink_to(sys.executable)
    got = answers(
        request(command("uname", "uname", "-s")),
        argv=["/bin/sh", "-c", REMOTE_COMMAND],
        env={"PATH": str(tmp_path)},
    )
    assert got["uname", ""].fields["status"] == "ok"


def test_without_python_it_says_so(tmp_path: Path) -> None:
    ended = subprocess.run(
        ["/bin/sh", "-c", REMOTE_COMMAND],
        env={"PATH": str(tmp_path)},
        input=b"",
        capture_output=True,
    )
    assert ended.returncode == 127
    assert NO_PYTHON in ended.stderr.decode()


def test_the_interpreter_is_isolated(tmp_path: Path) -> None:
    """Neither the user's folders nor the environment decide what code runs."""
    (tmp_path / "zlib.py").write_text("raise SystemExit('hijacked')")
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('hijacked')")
    source = program_with(b"import sys; print(sys.flags.isolated, sys.flags.no_site, sys.path)")
    ended = subprocess.run(
        ["/bin/sh", "-c", REMOTE_COMMAND],
        input=source,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": "x"},
        cwd=tmp_path,
        capture_output=True,
    )
    assert ended.stdout.startswith(b"1 1 ")
    assert str(tmp_path).encode() not in ended.stdout


@pytest.mark.parametrize("python", old_interpreters())
def test_the_oldest_interpreters(python: str, tmp_path: Path) -> None:
    (tmp_path / "python3").symlink_to(python)
    got = answers(
        request(command("uname", "uname", "-s"), files("os", "/etc/os-release")),
        env={"PATH": str(tmp_path)},
    )
    assert got["uname", ""].stdout == b"Linux\n"
    assert got["os", ""].stdout.startswith(b"F ")


def test_it_runs_where_json_is_missing() -> None:
    """python3-minimal of Debian and Ubuntu has no json; only filtered JSON answers need it."""
    blocker = (
        b"import sys\nclass B:\n def find_spec(self, n, p=None, t=None):\n"
        b"  if n.split('.')[0] in ('json','argparse','ctypes','logging','typing','shutil'):"
        b" raise ImportError(n)\nsys.meta_path.insert(0, B())\n"
    )
    asked = request(
        command("uname", "uname", "-s"),
        command("lldp", "echo", "[]", keep={"kind": "json", "keys": [], "texts": {}}),
    )
    length, _, rest = asked.job().stdin.partition(b"\n")
    feed = program_with(blocker + RUNNER.read_bytes()) + rest[int(length) :]
    process = subprocess.Popen(
        ["/bin/sh", "-c", REMOTE_COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        process.stdin.write(feed)
        process.stdin.flush()
        found, _ = frames_of(process.stdout.read())
    by_name = {frame.probe: frame for frame in found}
    assert by_name["uname"].fields["status"] == "ok"
    assert by_name["lldp"].fields["status"] == "failed"
    assert by_name["lldp"].stdout == b""


# ---- answers --------------------------------------------------------------------------------


def test_each_answer_has_its_status() -> None:
    got = answers(
        request(
            command("good", "printf", "a\\r\\r\\nb"),
            command("bad", "false"),
            command("nowhere", "no-such-program-here"),
            command("slow", "sleep", "50", timeout_s=1),
            command("flood", "yes", cap_bytes=10_000),
            files("files", "/etc/os-release", "/etc/no-such-*"),
            files("nofiles", "/etc/no-such-file"),
            files("unwritten", "/sys/no-such", absent="not readable without a write"),
            command("idle", "true", condition="gpu_is_initialised", condition_reason="why"),
            command("pernic", "true", each="port"),
        )
    )
    status = {probe: frame.fields["status"] for (probe, _), frame in got.items()}
    assert status == {
        "good": "ok",
        "bad": "failed",
        "nowhere": "absent",
        "slow": "timeout",
        "flood": "cut",
        "files": "ok",
        "nofiles": "absent",
        "unwritten": "not readable without a write",
        "idle": "skipped",
        "pernic": "absent",
    }
    assert got["good", ""].stdout == b"a\r\r\nb"
    assert len(got["flood", ""].stdout) == 10_000
    assert got["flood", ""].fields["truncated"] is True
    assert got["bad", ""].fields["exit_code"] == 1


def test_an_exit_status_is_never_lost() -> None:
    """A process may be gone before its pipes are read to the end, or the other way round."""
    tried = [command(f"bad{n}", "sh", "-c", "echo x; exit 7") for n in range(30)]
    got = answers(request(*tried))
    assert {(f.fields["status"], f.fields["exit_code"]) for f in got.values()} == {("failed", 7)}


def test_a_failing_tool_is_quoted_only_in_known_words() -> None:
    script = "echo password=hunter2; echo 'x: Permission denied for hunter2' >&2; exit 1"
    got = answers(
        request(command("bad", "sh", "-c", script, keep={"kind": "lines", "patterns": ["^y"]}))
    )
    frame = got["bad", ""]
    assert frame.fields["status"] == "denied"
    assert frame.fields["reason"] == "Permission denied"
    assert frame.stderr == b"Permission denied\n"
    assert b"hunter2" not in frame.stdout + frame.stderr
    assert frame.fields["dropped"] >= 1


def test_a_fifo_in_place_of_a_file_does_not_stop_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sys").mkdir(parents=True)
    os.mkfifo(root / "sys/pipe")
    (root / "sys/file").write_text("x")
    script = tmp_path / "rw.py"
    probe = files("mixed", "/sys/*")
    script.write_text(lone_runner([probe]))
    ended = subprocess.run(
        [sys.executable, script, "--root", root], capture_output=True, timeout=20
    )
    found, reader = frames_of(ended.stdout, None)
    assert reader.complete
    assert b"F 1 /sys/file\nx\n" in found[1].stdout
    assert b"E 6 /sys/pipe\nEINVAL\n" in found[1].stdout


def test_a_busy_device_is_asked_once_more(tmp_path: Path) -> None:
    tool = tmp_path / "usr/bin/asic"
    tool.parent.mkdir(parents=True)
    count = tmp_path / "count"
    tool.write_text(f"#!/bin/sh\necho x >> {count}\necho '-E- semaphore is locked' >&2\nexit 1\n")
    tool.chmod(0o755)
    script = tmp_path / "rw.py"
    probe = command("asic", "asic", busy_words=("semaphore",))
    asked = lone_runner([probe]).replace(
        'PATH = ("/usr/bin"', f'PATH = ("{tool.parent}", "/usr/bin"'
    )
    script.write_text(asked)
    ended = subprocess.run([sys.executable, script], capture_output=True, timeout=30)
    found, _ = frames_of(ended.stdout, None)
    assert found[1].fields["status"] == "device busy"
    assert count.read_text() == "x\nx\n"


# ---- one card at a time ---------------------------------------------------------------------


def test_one_probe_at_a_time_on_a_card_and_four_cards_at_a_time(tmp_path: Path) -> None:
    """A busy loop of fake NICs writes begin and end marks; overlaps on one card must be zero."""
    root = tmp_path / "root"
    for bus in range(6):
        for function in (0, 1):
            device = root / f"sys/bus/pci/devices/0000:{bus:02x}:00.{function}"
            device.mkdir(parents=True)
            (device / "vendor").write_text("0x15b3\n")
            (device / "class").write_text("0x020000\n")
    log = tmp_path / "log"
    tool = tmp_path / "asic"
    tool.write_text(
        f"#!/bin/sh\necho begin $1 >> {log}\nsleep 0.3\necho end $1 >> {log}\necho done\n"
    )
    tool.chmod(0o755)
    source = lone_runner([command("a", "asic", "{pci}", each="nic"),
                          command("b", "asic", "{pci}", each="nic")])  # fmt: skip
    # The tool lives outside the root here, so that no chroot is needed.
    source = source.replace("os.path.isfile(self.path(path))", "os.path.isfile(path)").replace(
        "os.access(self.path(path), os.X_OK)", "os.access(path, os.X_OK)"
    )
    source = source.replace('PATH = ("/usr/bin"', f'PATH = ("{tmp_path}", "/usr/bin"')
    source = source.replace("preexec_fn=enter_root if machine.root else None", "preexec_fn=None")
    script = tmp_path / "rw.py"
    script.write_text(source)
    ended = subprocess.run(
        [sys.executable, script, "--root", root], capture_output=True, timeout=60
    )
    found, reader = frames_of(ended.stdout, None)
    assert reader.complete
    assert len([f for f in found if f.probe in "ab"]) == 24
    open_cards: list[str] = []
    most = 0
    for line in log.read_text().splitlines():
        what, address = line.split()
        card = address.rsplit(".", 1)[0]
        if what == "begin":
            assert card not in open_cards, "two probes at once on one card"
            open_cards.append(card)
        else:
            open_cards.remove(card)
        most = max(most, len(open_cards))
    assert most == 4


# ---- endings --------------------------------------------------------------------------------


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    return state != "Z"


def children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except FileNotFoundError:
        return []
    return [int(word) for word in text.split()]


def wait_until(condition, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("which", ["stdin", "stdout", "SIGTERM", "SIGHUP"])
def test_it_ends_with_its_input_its_output_or_a_signal_and_takes_its_children_along(
    which: str,
) -> None:
    process = start(request(command("slow", "sleep", "600", timeout_s=100), seconds=200))
    assert wait_until(lambda: children(process.pid))
    child = children(process.pid)[0]
    if which == "stdin":
        process.stdin.close()
    elif which == "stdout":
        process.stdout.close()
    else:
        process.send_signal(getattr(signal, which))
    assert wait_until(lambda: process.poll() is not None), "still running"
    assert wait_until(lambda: not alive(child)), "left a probe behind"
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()


def test_it_ends_by_itself_when_its_time_is_up() -> None:
    began = time.monotonic()
    got = answers(request(command("slow", "sleep", "600", timeout_s=100), seconds=2))
    assert got["slow", ""].fields["status"] == "timeout"
    assert time.monotonic() - began < 10


def test_a_reader_that_hangs_costs_its_own_probe_only(tmp_path: Path) -> None:
    """A file whose read never returns, as in a driver that is stuck."""
    whole = "body = machine.read(path, cap)"
    stuck = "body = time.sleep(99) if 'stuck' in path else b'x'"
    root = tmp_path / "root/sys"
    root.mkdir(parents=True)
    (root / "stuck").write_text("x")
    (root / "fine").write_text("x")
    asked = [files("first", "/sys/stuck", timeout_s=1), files("second", "/sys/fine")]
    script = tmp_path / "rw.py"
    source = lone_runner(asked)
    assert whole in source
    script.write_text(source.replace(whole, stuck))
    ended = subprocess.run(
        [sys.executable, script, "--root", tmp_path / "root"], capture_output=True, timeout=20
    )
    found, reader = frames_of(ended.stdout, None)
    assert reader.complete, ended.stderr
    assert {f.probe: f.fields["status"] for f in found[1:3]} == {"first": "timeout", "second": "ok"}


# ---- it writes nothing ----------------------------------------------------------------------


def test_the_trap_itself_sees_writes(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    subprocess.run(
        ["strace", "-f", "-o", trace, "sh", "-c", f"echo x > {tmp_path}/f; mkdir {tmp_path}/d"],
        check=True,
    )
    found = "\n".join(writes(trace.read_text()))
    assert "O_CREAT" in found
    assert "mkdir" in found


@pytest.mark.root
def test_the_runner_writes_nothing(tmp_path: Path) -> None:
    """All shipped probes with all their evidence, every system call of every process traced."""
    trace = tmp_path / "trace"
    process = start(
        Request("0badcafe", tuple(probes().values()), 60),
        argv=["strace", "-f", "-qq", "-o", str(trace), "/bin/sh", "-c", REMOTE_COMMAND],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},  # Debian's own python3, no wrapper script
    )
    output, _ = output_of(process)
    found, reader = frames_of(output)
    assert reader.complete
    assert {f.probe for f in found} >= {"pci", "pci_config", "netdev"}
    assert sum(len(frame.stdout) for frame in found) > 10_000
    text = trace.read_text()
    # The shell's `command -v ... >/dev/null` is the constant's own, before the runner.
    ours = [line for line in writes(text) if '"/dev/null"' not in line]
    assert ours == []
    assert text.count("openat(") > 100, "the trap saw too little to mean anything"


# ---- alone ----------------------------------------------------------------------------------


def test_alone_it_explains_itself_and_refuses_a_terminal(tmp_path: Path) -> None:
    script = tmp_path / "rw.py"
    script.write_text(lone_runner(list(probes().values())))
    said = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True)
    assert said.returncode == 0
    assert "usage: python3 -I rw.py" in said.stderr
    wrong = subprocess.run([sys.executable, script, "--wrong"], capture_output=True, text=True)
    assert wrong.returncode == 2
    unknown = subprocess.run(
        [sys.executable, script, "--probe", "x"], capture_output=True, text=True
    )
    assert unknown.returncode == 2
    assert "mlxconfig" in unknown.stderr
    bare = subprocess.run([sys.executable, RUNNER], capture_output=True, text=True)
    assert "railwright runner" in bare.stderr


def test_the_runner_stays_within_python_3_6() -> None:
    said = subprocess.run(
        ["vermin", "--no-tips", "--violations", "-t=3.6-", str(RUNNER)],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    assert said.returncode == 0, said.stdout
    source = RUNNER.read_text()
    imports = set(re.findall(r"^import (\w+)", source, re.MULTILINE))
    assert imports == {"ast", "base64", "errno", "glob", "os", "re", "select", "signal",
                       "stat", "subprocess", "sys", "time", "zlib"}  # fmt: skip


def test_the_request_is_data_of_plain_types() -> None:
    asked = new_request(list(probes().values()), 180)
    assert json.loads(json.dumps(__import__("ast").literal_eval(asked.literal())))
    assert len(asked.job().stdin) < 40_000
    assert BARE.keep == {}


@pytest.mark.root
def test_explain_names_every_file_that_is_opened(tmp_path: Path) -> None:
    """Trace the runner on a fake host and hold every file it opened against --explain."""
    root = tmp_path / "root"
    build(root, hgx_h100(1))
    script = tmp_path / "rw.py"
    chosen = [probe for probe in probes().values() if probe.files]
    script.write_text(lone_runner(chosen))
    trace = tmp_path / "trace"
    subprocess.run(
        ["strace", "-f", "-qq", "-e", "trace=open,openat", "-o", trace, "/usr/bin/python3", "-I", "-S",
         script, "--root", root],
        stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    lines = [line for line in trace.read_text().splitlines() if "O_DIRECTORY" not in line]
    opened = {found for line in lines for found in re.findall(rf'"{root}(/[^"]+)"', line)}
    assert len(opened) > 2000
    named = [pattern for probe in chosen for pattern in probe.files] + list(OWN_FILES)
    known = [re.compile(fnmatch.translate(pattern).replace(".*", "[^/]*")) for pattern in named]
    assert [path for path in sorted(opened) if not any(k.match(path) for k in known)] == []
    text = "\n".join(explained(list(probes().values())))
    assert [pattern for pattern in named if pattern not in text] == []
    assert REMOTE_COMMAND in text
