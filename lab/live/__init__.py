"""A cluster that answers: hosts with state behind real sshd, kept up by one process.

    with hosts.running("name", models, folder) as up:     live hosts, for tests
    python -m lab up --hosts 64                            the same for a person

See docs/lab.md. A part (hosts, switches, guests, Slurm) is described in part.py.
"""
