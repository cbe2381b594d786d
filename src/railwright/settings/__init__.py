"""Every setting of a machine that can be changed: how it is read, written, undone, and the risk."""
