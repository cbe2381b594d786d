"""machines -> evidence: what to read (probes/*.toml) and the one-file runner that reads it."""
