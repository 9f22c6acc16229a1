"""A rank that fails, dies or sleeps ends its job: the suite itself never hangs."""

import secrets
import subprocess
import sys
import time

import horovodrun
import pytest

from horovodx import _horovodx as native

SECONDS = 60.0


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("on_purpose/one_fails.py", "rank 1 fails on purpose"),
        ("on_purpose/one_dies.py", "Exit code: 7"),
    ],
)
def test_ends_at_once(file: str, says: str) -> None:
    begin = time.monotonic()
    code, output = horovodrun.run_checks(3, [file], SECONDS)
    print(output)
    assert code not in (0, None)
    assert says in output
    assert time.monotonic() - begin < SECONDS / 2


def test_a_rank_that_sleeps_says_where() -> None:
    code, output = horovodrun.run_checks(2, ["on_purpose/one_sleeps.py"], SECONDS, seconds=8.0)
    print(output)
    assert code not in (0, None)
    assert "test_sleeps" in output and "Timeout" in output


SCRIPT = """
import sys, torch, horovod.torch as hvd
hvd.init()
hvd.barrier()
{}
"""


def script(ranks: int, body: str, **variables: str) -> horovodrun.Outcome:
    command = [sys.executable, "-c", SCRIPT.format(body)]
    code, output = horovodrun.run(ranks, command, SECONDS, **variables)
    print(output)
    return horovodrun.Outcome(code, output)


def test_a_script_may_just_end() -> None:
    """With operations under way that nobody waits for, and without shutdown()."""
    code, output = script(
        2,
        "if hvd.rank() == 0: handle = hvd.allreduce_async(torch.ones(1000), name='left')\n"
        "hvd.barrier()",
    )
    assert code == 0 and "Traceback" not in output


def test_an_exception_ends_the_job_with_its_text() -> None:
    code, output = script(
        2,
        "if hvd.rank() == 1: raise RuntimeError('something of my own')\n"
        "hvd.allreduce(torch.ones(1), name='without rank 1')",
    )
    assert code not in (0, None) and "something of my own" in output


def test_ctrl_c_ends_all_ranks() -> None:
    """SIGINT to one rank that waits: a KeyboardInterrupt, no crash, and the job ends."""
    code, output = script(
        2,
        "import os, signal, threading\n"
        "if hvd.rank() == 1:\n"
        "    threading.Timer(1, os.kill, [os.getpid(), signal.SIGINT]).start()\n"
        "    hvd.allreduce(torch.ones(1), name='never')\n"
        "hvd.allreduce(torch.ones(1), name='neither')",
    )
    assert code not in (0, None) and "KeyboardInterrupt" in output
    assert "Segmentation" not in output and "Abort" not in output


def test_elastic_training_without_a_rank_ends() -> None:
    """It cannot start again without one that has returned; the error says which."""
    code, output = script(
        3,
        "@hvd.elastic.run\n"
        "def train(state):\n"
        "    if hvd.rank() != 1:\n"
        "        raise hvd.HorovodInternalError('a failure')\n"
        "train(hvd.elastic.TorchState())",
        HOROVOD_GLOO_TIMEOUT_SECONDS="5",
    )
    assert code not in (0, None)
    assert "RuntimeError: Horovod could not start again" in output
    assert "rank 1 on localhost is missing" in output and "It had to because: a failure" in output


SPLIT = """
import os, torch, horovod.torch as hvd
from horovodx import _horovodx as native
hvd.init()
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
optimizer = hvd.DistributedOptimizer(
    torch.optim.SGD(model.parameters(), lr=0.1), model.named_parameters(), split_allreduce=True)
for step in range(4):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    if step == 3:  # all sums are there, and rank 1 does not come to give its part of them back
        native.wait_all([bucket.scattering for bucket in optimizer._buckets])
        hvd.barrier()
        if hvd.rank() == 1:
            os._exit(7)
    optimizer.step()
for use in (lambda: model(torch.ones(2, 4)), model.state_dict, optimizer.flush):
    try:
        use()
    except hvd.HorovodInternalError as error:
        print("said:", error, flush=True)
"""


def test_forward_says_who_died_between_the_halves() -> None:
    """With split_allreduce, by the hook of the first module; whoever asks again hears it too."""
    environment = horovodrun.environment(HOROVOD_SIZE="3", HOROVODX_SPLIT_BUCKET="1")
    environment |= {"HOROVODX_SECRET": secrets.token_hex(32), "HOROVODX_JOB_ID": "split"}
    port = native.rendezvous_start("127.0.0.1", 0, environment["HOROVODX_SECRET"], "split")
    environment |= {"HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1"}
    environment |= {"HOROVOD_GLOO_RENDEZVOUS_PORT": str(port)}
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", SPLIT],
            env={**environment, "HOROVOD_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(3)
    ]
    try:
        outputs = [rank.communicate(timeout=SECONDS)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
        native.rendezvous_stop()
    print(*outputs, sep="\n---\n")
    assert ranks[1].returncode == 7
    for output in (outputs[0], outputs[2]):
        said = [line for line in output.splitlines() if line.startswith("said:")]
        assert len(said) == 3 and all("rank 1" in line for line in said)
