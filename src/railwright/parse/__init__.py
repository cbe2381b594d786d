"""evidence -> rows: pure functions, one module per probe, with the probe's own name.

Each module has one entry point:

    def parse(data: bytes, instance: str) -> Iterator[Row]

`data` is the answer as it left the machine, `instance` what the probe was asked about (a PCI
address, a netdev, or '' for the whole host). No file, network or clock. An answer that holds
something, but nothing that the parser knows, raises NotUnderstoodError: a status of its own.
"""
