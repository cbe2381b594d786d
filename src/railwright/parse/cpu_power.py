"""Probe `cpu_power`: frequency governors and idle states of the CPUs.

Files:  /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor
        /sys/devices/system/cpu/cpu*/cpuidle/state*/disable
        /sys/devices/system/cpu/cpu0/cpufreq/{scaling_driver,scaling_max_freq,cpuinfo_max_freq,
        energy_performance_preference}, cpu0/cpuidle/state*/{name,latency}
        /sys/devices/system/cpu/{intel_pstate/no_turbo,cpufreq/boost,smt/active}

Two of them come for every CPU, so a host answers with a thousand files: one pass over their paths.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row, Value, whole_number
from railwright.parse.files import Files, is_missing, read_files
from railwright.parse.host_text import fold

CPUS = "/sys/devices/system/cpu"

# What each path is about: a CPU's governor, or an idle state.
_NUMBER = "(?:0|[1-9][0-9]{0,5})"
_PATH = re.compile(
    rf"{CPUS}/cpu({_NUMBER})/(?:cpufreq/scaling_governor|cpuidle/state({_NUMBER})/(disable|name|latency))",
    re.ASCII,
)
_FLAGS = {"0": False, "1": True}


class _Seen(NamedTuple):
    """What was read of all CPUs."""

    governors: dict[str | None, list[int]]
    states: dict[int, list[int]]  # state -> how many CPUs have it [enabled, disabled]


@lru_cache(maxsize=16384)  # hosts of one kind have the same paths
def _about(path: str) -> tuple[int, int | None, bool] | None:
    """(CPU, idle state, whether it is the state's switch) of a path."""
    found = _PATH.fullmatch(path)
    if found is None:
        return None
    return int(found[1]), int(found[2]) if found[2] else None, found[3] == "disable"


def _seen(files: Files) -> _Seen:
    seen = _Seen(defaultdict(list), {})
    for path in files:
        about = _about(path)
        if about is None or files.error(path) == "ENOENT":
            continue
        cpu, state, is_switch = about
        if state is None:
            seen.governors[files.text(path) or None].append(cpu)
            continue
        counts = seen.states.setdefault(state, [0, 0])
        disabled = _FLAGS.get(files.text(path) or "") if is_switch else None
        if disabled is not None:
            counts[disabled] += 1
    return seen


def _governor_rows(governors: dict[str | None, list[int]]) -> Iterator[Row]:
    for governor, cpus in sorted(governors.items(), key=lambda entry: min(entry[1])):
        values: dict[str, Value] = {
            "governor": governor,
            "cpus": fold(cpus),
            "cpu_count": len(cpus),
        }
        yield Row("cpu_governor", values)


def _state_row(files: Files, state: int, counts: list[int]) -> Row:
    base = f"{CPUS}/cpu0/cpuidle/state{state}"
    enabled, disabled = counts if any(counts) else (None, None)
    values: dict[str, Value] = {
        "state": state,
        "name": files.text(f"{base}/name"),
        "latency_us": whole_number(files.text(f"{base}/latency")),
        "disabled_cpus": disabled,
        "enabled_cpus": enabled,
    }
    return Row("cpu_idle_state", values)


def _turbo(files: Files) -> bool | None:
    """Whether CPUs may go above their base frequency; the Intel driver asks the other way round."""
    intel = f"{CPUS}/intel_pstate/no_turbo"
    no_turbo = _FLAGS.get(files.text(intel) or "")
    if no_turbo is not None:
        return not no_turbo
    if files.error(intel) not in (None, "ENOENT"):  # it has the last word and did not answer
        return None
    return _FLAGS.get(files.text(f"{CPUS}/cpufreq/boost") or "")


def _frequency(files: Files) -> Row:
    base = f"{CPUS}/cpu0/cpufreq"
    driver, preference = f"{base}/scaling_driver", f"{base}/energy_performance_preference"
    has_none = is_missing(files, driver)
    values: dict[str, Value] = {
        "driver": "" if has_none else files.text(driver),
        "max_khz": whole_number(files.text(f"{base}/scaling_max_freq")),
        "hardware_max_khz": whole_number(files.text(f"{base}/cpuinfo_max_freq")),
        "energy_preference": "" if is_missing(files, preference) else files.text(preference),
        "turbo": _turbo(files),
        "smt_active": _FLAGS.get(files.text(f"{CPUS}/smt/active") or ""),
    }
    return Row("cpu_frequency", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Tables cpu_governor, cpu_idle_state and cpu_frequency."""
    files = read_files(data)
    if not data:
        return
    if not any(path.startswith(f"{CPUS}/") for path in files):
        raise NotUnderstoodError(f"nothing below {CPUS}")
    seen = _seen(files)
    yield from _governor_rows(seen.governors)
    for state, counts in sorted(seen.states.items()):
        yield _state_row(files, state, counts)
    yield _frequency(files)
