"""Snapshots on disk: evidence, tables, digests, locks, and the questions they are asked."""
