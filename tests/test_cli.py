"""The command line as a stranger meets it: help, mistakes, pipes, interruption, nothing at all."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from conftest import REPOSITORY

from railwright import cli
from railwright.cli import VERBS
from railwright.collect.probe import load_probe, probes
from railwright.errors import ProbeError
from railwright.store.lookup import find
from railwright.store.snapshot import snapshots

RAILWRIGHT = [sys.executable, "-m", "railwright"]


def railwright(
    *arguments: object, text: bool = True, **options: object
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*RAILWRIGHT, *map(str, arguments)], capture_output=True, text=text, **options
    )


def local(store: Path, *more: object) -> "subprocess.CompletedProcess[str]":
    return railwright("collect", "--via", "local", "--state-from", "none", "--store", store, *more)


# ---- JSON -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("hardware", "MCX755106AS-HEAT"),
        ("fit", "MCX755106AS-HEAT", "--slot", "gen4x16"),
    ],
    ids=" ".join,
)
def test_json_has_a_short_form(words: tuple[str, ...]) -> None:
    short, long = railwright(*words, "--json"), railwright(*words, "--format", "json")
    assert json.loads(short.stdout) == json.loads(long.stdout)
    assert short.returncode == long.returncode


def test_json_and_csv_are_not_one_answer() -> None:
    done = railwright("sql", "SELECT 1", "--json", "--format", "csv")
    assert done.returncode == 2
    assert "--json and --format csv contradict each other" in done.stderr


# ---- help and mistakes ----------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str) -> None:
    said = railwright(verb, "--help")
    assert said.returncode == 0
    assert f" railwright {verb} " in said.stdout


def test_every_file_of_the_command_line_is_a_verb() -> None:
    files = {file.stem for file in Path(cli.__file__).parent.glob("*.py")}
    assert {"import_" if verb == "import" else verb for verb in VERBS} == files - {
        "__init__", "common", "completing", "fault", "grammar", "interrupt", "mistakes", "opening"
    }  # fmt: skip


def test_without_arguments_it_shows_its_verbs_and_exit_codes() -> None:
    said = railwright()
    text = said.stdout + said.stderr
    assert all(verb in text for verb in VERBS)
    assert "Exit status: 0 nothing to report" in " ".join(text.split())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["colect"], "unknown command 'colect'"),
        (["collect"], "no hosts given"),
        (["collect", "-w", "gpu[1-"], "is not a node set"),
        (["collect", "-w", "-oProxyCommand=x"], "neither a name nor a group"),
        (["collect", "-w", "-oProxy"], "not a host name"),
        (["collect", "-w", "a b"], "neither a name nor a group"),
        (["collect", "-w", "@nosuch:x"], "unknown group source 'nosuch'"),
        (["collect", "-f", "/no/such/file"], "cannot read the host file"),
        (["collect", "--via", "local", "--probe", "nosuch"], "unknown probe 'nosuch'"),
        (["collect", "--via", "pigeon"], "pigeon"),
        (["collect", "--try", "gpu[1-3]"], "--try needs exactly one host"),
        (["collect", "-w", "a", "--site", "/no/such"], "cannot read the site file"),
        (["facts"], "no snapshot in"),
        (["facts", "1999"], "no snapshot in"),
        (["show", "gpu1"], "no snapshot in"),
        (["merge", "/no/such"], "there is no /no/such"),
        (["import", "/no/such.rw"], "no such file"),
        (["store", "finish"], "no unfinished collection"),
    ],
)
def test_a_mistake_is_two_plain_lines_and_exit_status_2(
    arguments: list[str], says: str, tmp_path: Path
) -> None:
    said = railwright(*arguments, env={**os.environ, "RAILWRIGHT_STORE": str(tmp_path)})
    assert said.returncode == 2, said.stdout
    assert says in said.stderr
    assert "Traceback" not in said.stderr
    assert said.stdout == ""
    assert list(tmp_path.iterdir()) == [], "a mistake left something behind"


def test_missing_programs_are_named(tmp_path: Path) -> None:
    empty = {"PATH": str(tmp_path), "RAILWRIGHT_STORE": str(tmp_path / "s")}
    for arguments, program in (
        (["collect", "-w", "a"], "ssh"),
        (["collect", "-w", "a", "--via", "slurm"], "srun"),
        (["collect", "--kubernetes"], "kubectl"),
        (["collect", "-w", "a", "--state-from", "slurm"], "sinfo"),
    ):
        said = railwright(*arguments, env=empty)
        assert said.returncode == 2
        assert f"{program} is not installed on this machine" in said.stderr


# ---- reading this machine -------------------------------------------------------------------


def test_this_machine_can_be_read_and_looked_at(tmp_path: Path) -> None:
    done = local(tmp_path)
    assert done.returncode in (0, 3), done.stderr
    assert "1 target: 1 reached, 0 not" in done.stdout
    assert str(tmp_path) in done.stdout
    assert "Next: railwright check" in done.stderr
    for verb in (["facts"], ["show", "localhost"], ["store", "list"]):
        said = railwright(*verb, "--store", tmp_path)
        assert said.returncode in (0, 3), said.stderr
        assert said.stdout
        assert "\x1b" not in said.stdout, "colour in a pipe"


def test_a_closed_pipe_is_no_fault(tmp_path: Path) -> None:
    local(tmp_path)
    command = f"{sys.executable} -m railwright collect --explain | head -1"
    said = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert said.stdout == "WHAT REACHES A HOST\n"
    assert "Traceback" not in said.stderr
    assert "Exception" not in said.stderr


def test_host_files_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("# rack 1\nn[1-2]  # two\n\nn4\n")
    done = local(tmp_path / "s", "-f", tmp_path / "hosts")
    assert "3 targets: 3 reached" in done.stdout
    done = local(
        tmp_path / "s",
        "-f",
        "-",
        "-w",
        "n1",
    )  # nothing on standard input
    assert "1 target: 1 reached" in done.stdout


def test_the_site_file_names_what_is_out_of_service(tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text('[out_of_service]\n"gpu[17-18]" = "RMA 4711"\n')
    done = railwright("collect", "-w", "gpu[17-18]", "-o", "HostName=127.0.0.1", "-o", "Port=9",
                      "--site", site, "--state-from", "none", "--store", tmp_path / "s")  # fmt: skip
    assert "2 targets: 0 reached, 2 not, 2 of these out of service" in done.stdout
    assert done.returncode == 0, "nobody expected them to answer"
    with find(tmp_path / "s", None).database() as database:
        assert database.execute("SELECT DISTINCT out_of_service FROM target").fetchall() == [
            ("site: RMA 4711",)
        ]
    site.write_text("out_of_service = 3\n")
    said = railwright("collect", "-w", "a", "--site", site)
    assert said.returncode == 2
    site.write_text("[broken\n")
    assert "is not valid TOML" in railwright("collect", "-w", "a", "--site", site).stderr


class Api(BaseHTTPRequestHandler):
    """Just enough of the Kubernetes API for a real `kubectl get nodes`."""

    def do_GET(self) -> None:
        node = {"kind": "Node", "apiVersion": "v1"}
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        away = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
        items = [
            {**node, "metadata": {"name": "gpu1"}, "spec": {}, "status": ready},
            {
                **node,
                "metadata": {"name": "gpu2"},
                "spec": {"unschedulable": True},
                "status": ready,
            },
            {**node, "metadata": {"name": "gpu3"}, "spec": {}, "status": away},
        ]
        resource = {"name": "nodes", "singularName": "", "namespaced": False, "kind": "Node",
                    "verbs": ["get", "list"], "shortNames": ["no"]}  # fmt: skip
        answers = {
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {"kind": "APIGroupList", "groups": []},
            "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [resource]},
            "/api/v1/nodes": {
                "kind": "NodeList",
                "apiVersion": "v1",
                "metadata": {},
                "items": items,
            },
        }
        found = answers.get(self.path.split("?")[0])
        body = json.dumps(found or {"kind": "Status", "code": 404}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


def test_kubernetes_names_the_hosts_and_their_state(tmp_path: Path) -> None:
    assert shutil.which("kubectl"), "kubectl is not installed"
    server = HTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = tmp_path / "config"
    config.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "x",
        "clusters": [{"name": "x", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "users": [{"name": "x", "user": {}}],
    }))  # fmt: skip
    environment = {**os.environ, "KUBECONFIG": str(config), "HOME": str(tmp_path)}
    page = (REPOSITORY / "docs/operate/kubernetes.md").read_text("utf-8")
    [typed] = re.findall(r"^railwright (collect .*?) *#", page, re.MULTILINE)
    done = railwright(*typed.split(), "--via", "local", "--store", tmp_path / "s", env=environment)
    server.shutdown()
    assert "reached" in done.stdout, done.stderr
    with find(tmp_path / "s", None).database() as database:
        found = database.execute("SELECT target, out_of_service FROM target ORDER BY 1").fetchall()
    assert ("gpu2", "Kubernetes: cordoned") in found
    assert ("gpu3", "Kubernetes: not ready") in found
    assert ("gpu1", "") in found


# ---- looking before reading -----------------------------------------------------------------


def test_the_sudoers_fragment_is_valid_and_exact(tmp_path: Path) -> None:
    said = railwright("collect", "--sudoers", "--user", "ops")
    file = tmp_path / "railwright"
    file.write_text(said.stdout)
    file.chmod(0o440)
    checked = subprocess.run(["/usr/sbin/visudo", "-c", "-f", file], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    rules = [line for line in said.stdout.splitlines() if not line.startswith("#")]
    assert rules
    for line in rules:
        assert line.startswith("ops ALL=(root) NOPASSWD: /usr/")
        assert "*" not in line, "a wildcard matches blanks and slashes in sudoers"
        assert " ALL" not in line.split("NOPASSWD:")[1]


def test_explain_names_every_probe_command_and_file() -> None:
    text = railwright("collect", "--explain").stdout
    for probe in probes().values():
        assert f"\n{probe.name}: {probe.title}\n" in text
        for pattern in (*probe.files, *probe.links):
            assert pattern in text
        for tool in probe.tools:
            assert f"{tool} {' '.join(probe.argv[1:])}".strip() in text


# ---- probes that are refused ----------------------------------------------------------------

GOOD = (
    'title = "t"\neach = "host"\nneeds_root = "no"\ntimeout_s = 5\ncap_bytes = 1000\ncost = "c"\n'
    'disturbs = "nothing"\ndisturbs_source = "s"\n'
)


@pytest.mark.parametrize(
    "extra",
    [
        'tools = ["mst"]\nargv = ["{tool}", "start"]',
        'tools = ["modprobe"]\nargv = ["{tool}", "mlx5_ib"]',
        'tools = ["insmod"]\nargv = ["{tool}", "x.ko"]',
        'tools = ["mount"]\nargv = ["{tool}", "-t", "configfs", "none", "/sys/kernel/config"]',
        'tools = ["mlxconfig"]\nargv = ["{tool}", "-d", "{pci}", "set", "SRIOV_EN=1"]\neach = "nic"',
        'tools = ["mlxconfig"]\nargv = ["{tool}", "-d", "{pci}", "reset"]\neach = "nic"',
        'tools = ["sh"]\nargv = ["{tool}", "-c", "reboot"]',
        'argv = ["/bin/sh", "-c", "reboot"]',
        'tools = ["dmesg"]\nargv = ["{tool}", "-C"]',
        'files = ["/etc/shadow"]',
        'files = ["/sys/../etc/shadow"]',
        'files = ["/proc/*/environ"]',
        'files = ["/proc/*/cmdline"]',
        'files = ["/sys/bus/pci/devices/*/resource0"]',
        'files = ["/sys/bus/pci/devices/*/rom"]',
        'files = ["/home/x"]',
        'files = ["/sys/x"]\ndisturbs = "everything"',
        'files = ["/sys/x"]\ntimeout_s = 9999',
        'files = ["/sys/x"]\nshell = "true"',
        "",
    ],
)
def test_a_probe_that_is_not_a_pure_read_is_refused_at_load_time(extra: str) -> None:
    keys = {line.split(" ")[0] for line in extra.splitlines()}
    base = "\n".join(line for line in GOOD.splitlines() if line.split(" ")[0] not in keys)
    with pytest.raises(ProbeError):
        load_probe("bad", f"{base}\n{extra}\n")


def test_a_probe_that_only_reads_is_taken() -> None:
    assert load_probe("good", GOOD + 'files = ["/sys/class/net/*/mtu"]\n').files
    sources = [p.disturbs_source for p in probes().values()]
    assert all(len(source) > 15 for source in sources)


# ---- alone and back -------------------------------------------------------------------------


def test_the_lone_runner_and_import(tmp_path: Path) -> None:
    script = tmp_path / "rw.py"
    script.write_text(railwright("runner").stdout)
    for host in ("gpu017", "gpu018"):
        with (tmp_path / f"{host}.rw").open("wb") as out:
            subprocess.run(["/usr/bin/python3", script], stdout=out, check=True)
    whole = (tmp_path / "gpu018.rw").read_bytes()
    (tmp_path / "gpu019.rw").write_bytes(whole[: len(whole) // 2])
    files = [tmp_path / f"gpu0{n}.rw" for n in (17, 18, 19)]
    done = railwright("import", *files, "--store", tmp_path / "s")
    assert done.returncode == 3
    with find(tmp_path / "s", None).database() as database:
        assert database.execute("SELECT target, status FROM target ORDER BY 1").fetchall() == [
            ("gpu017", "reached"),
            ("gpu018", "reached"),
            ("gpu019", "incomplete"),
        ]
        missing = database.execute(
            "SELECT count(*) FROM probe_result WHERE target = 'gpu019' AND status = 'missing'"
        ).fetchone()
    assert missing[0] > 0


# ---- the store ------------------------------------------------------------------------------


def test_list_fill_and_prune(tmp_path: Path) -> None:
    bad = ("collect", "-w", "gpu[1-2]", "-o", "HostName=127.0.0.1", "-o", "Port=9",
           "--state-from", "none", "--store", tmp_path)  # fmt: skip
    first = railwright(*bad)
    assert first.returncode == 3
    assert "refused" in first.stdout
    old = find(tmp_path, None)
    filled = local(tmp_path, "--fill", old.name)
    assert "2 targets: 2 reached, 0 not" in filled.stdout, filled.stderr
    again = local(tmp_path, "--fill", find(tmp_path, None).name)
    listed = railwright("store", "list", "--store", tmp_path).stdout
    assert listed.count(" reached ") == len(snapshots(tmp_path))
    assert "filled from" in listed
    if os.geteuid() == 0:  # else root probes are denied, and another try may bring them
        assert again.returncode == 2
        assert "nothing is missing" in again.stderr
    would = railwright("store", "prune", "--keep", "1", "--store", tmp_path)
    assert "would delete" in would.stdout
    before = len(snapshots(tmp_path))
    assert before >= 2
    railwright("store", "prune", "--keep", "1", "--yes", "--store", tmp_path)
    assert len(snapshots(tmp_path)) == 1
    assert find(tmp_path, None).name != old.name


def test_ctrl_c_keeps_what_has_arrived_and_says_what_is_missing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*RAILWRIGHT, "collect", "-w", "a,b", "-o", "ProxyCommand=sleep 60",
         "--connect-timeout", "50", "--state-from", "none", "--store", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 10
    while not list(tmp_path.glob("*.unfinished")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    assert "interrupted" in output
    assert "2 targets: 0 reached, 2 not" in output
    assert find(tmp_path, None).run["interrupted"] is True


def test_a_store_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    said = local(tmp_path / "file" / "store")
    assert said.returncode == 2
    assert "cannot use the store" in said.stderr
    assert "--store" in said.stderr
