"""The words in which a setting says what changing it means."""

UNKNOWN = "unknown"
LOOK_FIRST = "depends"
# What a change disturbs, in the order of how much stops: it decides whether a fix waits for a
# drained host. What no document says is unknown, never guessed.
DISTURBANCES = {
    "nothing": "takes effect at once, traffic goes on",
    "new jobs": "jobs that start afterwards use it; running jobs keep the old value",
    "packet loss": "queues or buffers are rebuilt, packets may be lost meanwhile; links stay up",
    "service restart": "a daemon restarts, and what it runs may stop",
    "link flap": "the port goes down and trains again: count on losing the jobs that use it",
    "running jobs": "jobs that use it lose it: drain first",
    "driver restart": "network and RDMA devices go away and come back; no QP survives",
    "GPU reset": "programs on the GPU end; on a board with NVSwitches, on all its GPUs",
    "NIC reset": "all functions of the card go down, on multi-host cards those of the other hosts "
    "too; a BlueField or a card with a PCIe switch may need a reboot",
    "reboot": "the host restarts",
    "power cycle": "the host goes off, standby power too",
    "switch reload": "all ports of the switch go down",
    "hands on site": "someone works on a cable, a module, a card or a part",
    LOOK_FIRST: "look first: the cause decides what to do",
    UNKNOWN: "not documented",
}
# When a new value counts: (what that means, what it disturbs).
TAKES_HOLD = {
    "now": ("when it is written", "nothing"),
    "new_jobs": ("for processes that start afterwards", "new jobs"),
    "queues": ("when the driver has rebuilt the queues", "packet loss"),
    "service": ("when a daemon restarts", "service restart"),
    "link": ("when the link has trained again", "link flap"),
    "driver": ("when the driver is loaded again", "driver restart"),
    "firmware_reset": ("at a firmware reset", "NIC reset"),
    "reboot": ("at a reboot", "reboot"),
    "power_cycle": ("at a power cycle", "power cycle"),
    "switch_reload": ("at a reload of the switch", "switch reload"),
    "": ("not documented", UNKNOWN),
}
# How far the change goes, or a wrong value, whichever is more.
REACH = {
    "none": "nothing that runs",
    "jobs": "jobs that start later",
    "link": "one rail of a host",
    "card": "all functions of one card",
    "host": "the host",
    "switch": "any port of one switch",
    "fabric": "machines that were not touched",
    "": "not documented",
}
WAY_BACK = {
    "exact": "the old value, at the same cost",
    "again": "the old value, with the same reset or reboot again",
    "partial": "the old value, but side effects stay (names, GID indexes, VFs)",
    "none": "may be refused",
    "": "not documented",
}
# Who may change it.
LEVELS = {
    "write": "`plan` proposes it",
    "site": "only if the site file names the value",
    "render": "`plan` prints what to do; nothing of Railwright writes it",
    "hands": "no program can set it",
}
# What a runtime value does not survive.
EVENTS = {
    "driver": "the driver is loaded again",
    "firmware_reset": "a firmware reset",
    "reboot": "a reboot",
    "power_cycle": "a power cycle",
    "switch_reload": "a reload of the switch that was not preceded by saving",
}
