"""Guests: small virtual machines with real Soft-RoCE, real LLDP, real DCB state and emulated cards.

    make_image()                                     once; then cached below $LAB
    with running("rwg", 2, 1, folder) as guests:     two guests with one rail each
        guests.machines[0].strike("loss", 0)

The kernel of a guest is real: RDMA devices, GIDs, counters, addresses, routes, neighbors. What no
virtual machine has, the firmware of a card and the tools that read it, comes from a model of
lab.fleet, whose names, MAC and PCI addresses the guest's real devices carry (model.py).
"""

from lab.guest.fleet import Guests, make_image, running
from lab.guest.machine import FAULTS, GuestMachine

__all__ = ["FAULTS", "GuestMachine", "Guests", "make_image", "running"]
