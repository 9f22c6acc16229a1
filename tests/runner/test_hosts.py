"""Hosts, slots and ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from horovod.runner.common.util.hosts import (
    INVALID_SLOT_INFO,
    HostInfo,
    get_host_assignments,
    parse_host_files,
    parse_hosts,
    parse_hosts_and_slots,
)
from horovod.runner.util.lsf import LSFUtils


def places(hosts: str, least: int, most: int | None = None) -> list[str]:
    return [
        f"{s.rank} {s.hostname} {s.local_rank}/{s.local_size} {s.cross_rank}/{s.cross_size}"
        for s in get_host_assignments(parse_hosts(hosts), least, most)
    ]


def test_ranks_fill_hosts_in_order() -> None:
    assert places("a:1,b:3,c:2", 6) == [
        "0 a 0/1 0/3",
        "1 b 0/3 1/3",
        "2 b 1/3 0/2",
        "3 b 2/3 0/1",
        "4 c 0/2 2/3",
        "5 c 1/2 1/2",
    ]


def test_no_more_than_the_maximum() -> None:
    assert places("a:2,b:2", 1, 3) == ["0 a 0/2 0/2", "1 a 1/2 0/1", "2 b 0/1 1/2"]
    assert {s.size for s in get_host_assignments(parse_hosts("a:2,b:2"), 1, 3)} == {3}


def test_a_host_named_twice_has_the_slots_of_both() -> None:
    assert places("a:1,b:1,a:1", 3) == ["0 a 0/2 0/2", "1 a 1/2 0/1", "2 b 0/1 1/2"]


def test_too_few_slots() -> None:
    with pytest.raises(ValueError, match=r"Requested more processes \(5\) than .* slots \(4\)"):
        places("a:2,b:2", 5)


def test_slot_as_text() -> None:
    slot = get_host_assignments([HostInfo("a", 1), HostInfo("b", 1)], 2)[1]
    assert slot.to_response_string() == "1,2,0,1,1,2"
    assert INVALID_SLOT_INFO.to_response_string() == "-1,-1,-1,-1,-1,-1"


def test_host_lists() -> None:
    assert parse_hosts(" a.b-c_1:2 , b:4") == [HostInfo("a.b-c_1", 2), HostInfo("b", 4)]
    assert parse_hosts_and_slots("a:2,b:4") == (["a", "b"], {"a": 2, "b": 4})


@pytest.mark.parametrize("text", ["", "a", "a:", "a:b", ":2", "a:1,,b:1", "a:1;b:2", "fe80::1:2"])
def test_bad_host_lists(text: str) -> None:
    with pytest.raises(ValueError, match="Invalid host input"):
        parse_hosts(text)


def test_host_files(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(
        "# my cluster\n\na slots=2\n  b slots=3 max_slots=4  # big one\nc\nd slots = 5\ne:6\n"
    )
    assert parse_host_files(str(path)) == "a:2,b:3,c:1,d:5,e:6"


@pytest.mark.parametrize("text", ["a slots=x\n", "!! slots=1\n", "", "# nothing\n"])
def test_bad_host_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hosts"
    path.write_text(text)
    with pytest.raises(ValueError):
        parse_host_files(str(path))


class TestLsf:
    """Jobs of LSF, by their environment."""

    @pytest.fixture(autouse=True)
    def job(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LSB_JOBID", "1")
        monkeypatch.setenv("LSB_MCPU_HOSTS", "batch 1 n1 4 n2 4")
        monkeypatch.delenv("CSM_ALLOCATION_ID", raising=False)
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        LSFUtils.get_num_gpus.cache_clear()
        yield
        LSFUtils.get_num_gpus.cache_clear()

    def test_hosts_and_slots(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert LSFUtils.using_lsf()
        assert LSFUtils.get_compute_hosts() == ["batch", "n1", "n2"]
        monkeypatch.setenv("CSM_ALLOCATION_ID", "7")
        assert LSFUtils.get_compute_hosts() == ["n1", "n2"]
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3,4,5")
        assert LSFUtils.get_num_processes() == 12
        assert LSFUtils.get_num_cores() >= 1 and LSFUtils.get_num_threads() >= 1

    def test_np_comes_from_the_job(self, run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        lsf = {"LSB_JOBID": "1", "LSB_MCPU_HOSTS": "localhost 3", "CUDA_VISIBLE_DEVICES": "0,1"}
        done = run("sh", "-c", "echo $HOROVOD_SIZE", env=lsf)
        assert done.stdout.splitlines()[0].endswith(":2"), done.stderr
