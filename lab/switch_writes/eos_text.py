"""EOS: a configuration as `show running-config` prints it, for what the lab knows of one."""

from typing import Any

from lab.fleet.fabric.setting import Setting
from lab.switch_writes.eos_lines import WATCHDOG, lines_of
from lab.switch_writes.outcome import Config


def _of_port(setting: Setting, name: str, native: dict[str, Any]) -> list[str]:
    lines = [f"mtu {setting.mtu}"]
    lines.append("speed auto" if setting.autonegotiation else
                 f"speed forced {setting.asked_mbps // 1000}gfull")  # fmt: skip
    encoding = {"rs": "reed-solomon", "fc": "fire-code"}.get(setting.fec_asked)
    lines += [f"error-correction encoding {encoding}"] if encoding else []
    lines += ["no error-correction encoding"] if setting.fec_asked == "none" else []
    lines += ["flowcontrol receive on"] if setting.pause_rx else []
    lines += ["flowcontrol send on"] if setting.pause_tx else []
    trust = {"dscp": "dscp", "pcp": "cos"}.get(setting.trust)
    lines += [f"qos trust {trust}"] if trust else []
    lines += ["priority-flow-control on"] if setting.pfc else []
    lines += [f"priority-flow-control priority {one} no-drop"
              for one in setting.pfc or native["priorities"].get(name, ())]  # fmt: skip
    is_unwatched = bool(setting.pfc) and not setting.watchdog
    lines += [f"no {WATCHDOG}"] if is_unwatched else []
    bound = native["bound"].get(name)
    lines += [f"service-profile {bound}"] if bound else []
    own = lines_of(setting)
    if own != {queue: one for queue, one in native["profiles"].get(bound, {}).items() if one}:
        for queue, one in own.items():
            lines += [f"tx-queue {queue}", *(f"   {one[key]}" for key in sorted(one))]
    lines += [] if setting.lldp else ["no lldp transmit", "no lldp receive"]
    return [*lines, *([] if setting.admin_up else ["shutdown"])]


def running_config(config: Config, ports: list[str], name: str) -> list[str]:
    """`show running-config`."""
    first, native = config.settings[0], config.native
    lines = [f"hostname {name}", "!"]
    if not any(one.lldp for one in config.settings):
        lines += ["no lldp run", "!"]
    for queue, held in ((one, native["profiles"][one]) for one in sorted(native["profiles"])):
        lines.append(f"qos profile {queue}")
        for number in sorted(held):
            if held[number]:
                lines.append(f"   tx-queue {number}")
                lines += [f"      {held[number][key]}" for key in sorted(held[number])]
        lines.append("!")
    lines += [f"qos map dscp {code} to traffic-class {to}"
              for code, to in enumerate(first.dscp_class) if to != code // 8]  # fmt: skip
    lines += [f"qos map traffic-class {number} to tx-queue {to}"
              for number, to in enumerate(first.class_queue) if to != number]  # fmt: skip
    watched = [one for one in config.settings if one.watchdog]
    if watched:
        timeout, recovery = (value / 1000 for value in watched[0].watchdog_ms)
        lines += [f"{WATCHDOG} default timeout {timeout:.2f}",
                  f"{WATCHDOG} default polling-interval {native['poll']}",
                  f"{WATCHDOG} default recovery-time {recovery:.2f}",
                  f"{WATCHDOG} action {watched[0].watchdog_action}"]  # fmt: skip
    lines.append("!")
    for port, setting in zip(ports, config.settings, strict=True):
        lines += [
            f"interface {port}",
            *(f"   {one}" for one in _of_port(setting, port, native)),
            "!",
        ]
    return [*lines, "end"]
