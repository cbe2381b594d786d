"""Railwright makes the RDMA fabric of a GPU cluster true and keeps it so."""

__version__ = "0.1.0"
