"""Healthy as vendors ship it: what hosts are set to, as data, each value with its source.

    host_preset("by-hand").applied(host)       a host as that preset leaves it

`lab.fleet.fabric.presets` has the switches. A preset never says what a site wants: what a rule
makes of a preset is the rule's affair.
"""

from lab.fleet.presets.hosts import HostPreset, host_preset, host_presets

__all__ = ["HostPreset", "host_preset", "host_presets"]
