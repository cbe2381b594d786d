"""Answers of switches for tests: cases of `tests/evidence`, whose facts are written by hand."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from lab.switch_sshd import Switch
from railwright.collect.switch import systems
from railwright.schema.table import tables
from railwright.store.snapshot import Snapshot, load

EVIDENCE = Path(__file__).parent / "evidence"

# What is asked -> the case that is printed. Commands that are not here get an answer of "none".
EOS = {
    "show version": "eos_show/odd-version",
    "show interfaces": "eos_show/interfaces-mtu-and-fcs-fault",
    "show interfaces status": "eos_show/odd-interfaces-status",
    "show priority-flow-control": "eos_show/priority-flow-control-status-one-port-off",
    "show priority-flow-control counters": "eos_show/priority-flow-control-counters",
    "show qos maps": "eos_show/qos-maps-correct",
    "show qos interfaces": "eos_show/qos-interfaces-documented",
    "show priority-flow-control counters watchdog": "eos_show/pfc-watchdog-counters-documented",
    "show qos interfaces ecn counters queue": "eos_show/qos-interfaces-ecn-counters",
    "show interfaces counters queue drops": "eos_show/interfaces-counters-queue-drops",
    "show lldp neighbors detail": "eos_show/lldp-neighbors-detail",
    "show ip route vrf all": "eos_route/equal-cost-and-two-tables",
}
SONIC = {
    "show version": "sonic_show/version",
    "show interfaces status": "sonic_show/interface-status-down-mtu-speed-fec",
    "show lldp table": "sonic_show/lldp-table",
    "show pfc counters": "sonic_show/pfc-counters-storm-from-one-host",
    "show pfcwd config": "sonic_show/pfcwd-config",
    "show pfcwd stats": "sonic_show/pfcwd-stats",
    "show ecn": "sonic_show/ecnconfig-list",
    "show buffer information": "sonic_show/buffer-information",
    "show queue counters": "sonic_show/queue-counters-drops-in-queue0",
    "show interfaces counters": "sonic_show/interfaces-counters",
    "sonic-db-dump -n APPL_DB -k 'BUFFER_*_TABLE:*' -y": "sonic_show/buffers-in-force",
    "show priority-group watermark headroom": "sonic_show/priority-group-headroom-watermark",
}
CUMULUS = {
    "nv show system": "nvue_show/odd-system",
    "nv show platform": "nvue_show/odd-platform",
    "nv show interface": "nvue_show/interface-all-mtu-fault-swp1s1",
    "nv show interface lldp": "nvue_show/interface-lldp-one-missing",
    "nv show qos roce": "nvue_show/qos-roce-lossless",
    "show ip route vrf all": "nvue_route/of-frr",
}
ONYX = {
    "show version": "onyx_show/odd-version-text",
    "show interfaces ethernet": "onyx_show/odd-interfaces-text",
    "show lldp local": "onyx_show/odd-lldp-local",
    "show lldp interfaces ethernet remote": "onyx_show/odd-lldp-remote-text",
    "show dcb priority-flow-control": "onyx_show/dcb-priority-flow-control",
    "show interfaces ethernet congestion-control": "onyx_show/interface-congestion-control",
    "show qos interface ethernet": "onyx_show/odd-qos-interface-json",
    "show dcb ets interface ethernet": "onyx_show/odd-ets-json",
    "show roce": "onyx_show/roce-lossless",
    "show ip route": "onyx_route/equal-cost-and-two-tables",
}
CASES = {"eos": EOS, "sonic": SONIC, "cumulus": CUMULUS, "onyx": ONYX}
# Answers that hold nothing, or nothing that a case is written about.
NONE = {
    "show hostname": '{"hostname": "leaf01", "fqdn": "leaf01.example"}\n',
    "show interfaces error-correction": '{"interfaceErrCorrStatuses": {}}\n',
    "show interfaces flow-control": '{"interfaceFlowControls": {}}\n',
    "show interfaces counters errors": '{"interfaceErrorCounters": {}}\n',
    "nv show interface counters": "{}\n",
}


def case_text(case: str) -> str:
    return (EVIDENCE / f"{case}.out").read_text("utf-8")


def answers_of(system: str) -> dict[str, str]:
    """What each command of a system prints, as it is sent."""
    cases = CASES[system]
    return {
        command.text: case_text(cases[command.instance])
        if command.instance in cases
        else NONE.get(command.instance, "")
        for command in systems()[system].commands
    }


def terminal(name: str, system: str, **settings: object) -> Switch:
    session = list(systems()[system].opening)
    more = {"prompt": f"{name}>" if system == "eos" else f"{name} [standalone: master] > ",
            "banner": "Welcome to # this lab >\nUse is recorded.\n", "pager_off": session[:1],
            "session": session[1:]}  # fmt: skip
    return Switch(name, "terminal", answers_of(system), {**more, **settings})


# A configuration as config_db.json has it, table by table as sonic-db-dump prints it.
CONFIG = json.loads(case_text("sonic_config_db/correct-roce-dscp26-prio3"))


def dumped(pattern: str) -> str:
    """What `sonic-db-dump -k PATTERN -y` prints of it."""
    form = re.compile(re.escape(pattern).replace(r"\*", ".*"))
    flat = {
        f"{table}|{key}": entry for table, rows in CONFIG.items() for key, entry in rows.items()
    }
    found = {key: {"expireat": 1794694500.5, "ttl": -0.001, "type": "hash", "value": value}
             for key, value in flat.items() if form.fullmatch(key)}  # fmt: skip
    return json.dumps(found, indent=2) + "\n"


def sonic(name: str, **more: Any) -> Switch:
    answers = answers_of("sonic")
    for command in systems()["sonic"].commands:
        if command.probe == "sonic_config_db":
            answers[command.text] = dumped(command.text.split("'")[1])
        elif command.probe == "sonic_route":
            answers[command.text] = case_text("sonic_route/equal-cost-and-odd-ones")
        elif not answers[command.text]:  # a table that has no rows
            answers[command.text] = case_text("sonic_show/lldp-table-empty")
    return Switch(name, "shell", answers, **more)


def rows(snapshot: Snapshot, query: str) -> list[tuple[Any, ...]]:
    with snapshot.database(evidence=True) as database:
        return database.execute(query).fetchall()


@cache
def facts(path: Path, table: str, target: str, probe: str) -> list[dict[str, Any]]:
    """The rows of one table that one switch's answers gave; a finished snapshot never changes."""
    with load(path).database() as database:
        found = database.execute(
            f"SELECT * FROM {table} WHERE target = ? AND probe = ?", [target, probe]
        )
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def assert_case(snapshot: Snapshot, target: str, case: str) -> None:
    """The facts of a case are there, as they are written beside it."""
    expect = json.loads((EVIDENCE / f"{case}.expect.json").read_text("utf-8"))
    wanted = [*expect.get("rows", []), *expect.get("contains", [])]
    assert wanted, case
    for table, values in wanted:
        assert table in tables()
        found = facts(snapshot.path, table, target, case.split("/", 1)[0])
        assert any(all(row[k] == v for k, v in values.items()) for row in found), (case, values)
