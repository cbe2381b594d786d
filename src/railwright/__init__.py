"""Railwright finds and explains what is wrong in the RDMA fabric of a GPU cluster."""

__version__ = "0.1.0"
