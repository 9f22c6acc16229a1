"""The launcher's own side: it connects to the agents of all hosts, and runs a job on them."""
