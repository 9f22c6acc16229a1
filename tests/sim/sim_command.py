"""Runs hvdx-sim in this process."""

import json

from horovodx.sim.command import main


def run(capsys, *words):
    """(exit code, standard output, standard error)."""
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def steps(capsys, *words):
    """What --json says of each step, by (schedule, workers)."""
    code, out, err = run(capsys, *words, "--json", "-")
    assert code == 0, err
    return {(step["schedule"], step["workers"]): step for step in json.loads(out)["steps"]}
