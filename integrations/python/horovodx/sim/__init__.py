"""hvdx-sim: what training would take on a cluster that need not exist. See README.md."""
