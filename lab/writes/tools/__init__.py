"""What each program does to a host: one module per tool, found by being in this folder."""
