"""Run one command on many machines, in bytes. The only package that opens connections."""
