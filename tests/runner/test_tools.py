"""The small modules that launchers and tests import by name."""

from __future__ import annotations

import io
import os
import pickle
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import SECONDS

from horovod.common import util
from horovod.runner import controllers, gloo_run, js_run
from horovod.runner.common.util import (
    codec,
    env,
    host_hash,
    network,
    safe_shell_exec,
    secret,
    timeout,
    tiny_shell_exec,
)
from horovod.runner.util import cache, streams, threads
from horovod.runner.util.network import find_port

KEY = secret.make_secret_key()


class Explosive:
    """Unpickling it would be noticed."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (66,)


class TestWire:
    """Signed messages."""

    def test_there_and_back(self) -> None:
        pipe = io.BytesIO()
        network.Wire(KEY).write({"a": b"x" * 100_000}, pipe)
        assert pipe.getvalue()[32:36] == struct.pack("i", len(pipe.getvalue()) - 36)
        pipe.seek(0)
        assert network.Wire(KEY).read(pipe) == {"a": b"x" * 100_000}

    def test_nothing_unsigned_is_unpickled(self) -> None:
        pipe = io.BytesIO()
        network.Wire(secret.make_secret_key()).write(Explosive(), pipe)
        pipe.seek(0)
        with pytest.raises(Exception, match="Security error"):
            network.Wire(KEY).read(pipe)

    @pytest.mark.parametrize("length", [-1, (1 << 31) - 1])
    def test_lengths_are_limited(self, length: int) -> None:
        with pytest.raises(ValueError, match="bytes"):
            network.Wire(KEY).read(io.BytesIO(bytes(32) + struct.pack("i", length)))

    def test_torn_messages(self) -> None:
        with pytest.raises(EOFError):
            network.Wire(KEY).read(io.BytesIO(bytes(32) + struct.pack("i", 9) + b"torn"))


class Echo(network.BasicService):
    """Says what it hears; text as a stream."""

    def _handle(self, req: Any, client_address: Any) -> Any:
        if isinstance(req, str):
            return network.AckStreamResponse(), io.StringIO(req)
        return super()._handle(req, client_address)


class TestService:
    """A service and its client."""

    @pytest.fixture
    def service(self) -> Any:
        service = Echo("echo", KEY, ["lo"])
        yield service
        service.shutdown()

    def test_ping_and_stream(self, service: Echo) -> None:
        client = network.BasicClient("echo", service.addresses(), KEY, 0, match_intf=True)
        assert client.addresses() == {"lo": [("127.0.0.1", service.get_port())]}
        heard = io.StringIO()
        assert isinstance(client._send("one\ntwo", heard), network.AckStreamResponse)
        assert heard.getvalue() == "one\ntwo"

    def test_strangers_and_wrong_names(self, service: Echo) -> None:
        for name, key in (("other", KEY), ("echo", secret.make_secret_key())):
            with pytest.raises(network.NoValidAddressesFound):
                network.BasicClient(name, service.addresses(), key, 0, attempts=1)

    def test_garbage_does_not_disturb_it(self, service: Echo) -> None:
        with socket.create_connection(("127.0.0.1", service.get_port()), 5) as peer:
            peer.sendall(bytes(64) + struct.pack("i", 10) + pickle.dumps(Explosive())[:10])
            with peer.makefile("rb") as said:
                assert len(said.read()) == 32  # its nonce, and nothing else
        network.BasicClient("echo", service.addresses(), KEY, 0)


class TestThreads:
    """Functions in threads."""

    def test_results_by_position(self) -> None:
        assert threads.execute_function_multithreaded(lambda a, b: a * b, [[2, 3], [4, 5]]) == {
            0: 6,
            1: 20,
        }

    def test_exceptions_are_raised(self) -> None:
        with pytest.raises(ZeroDivisionError):
            threads.execute_function_multithreaded(lambda a: 1 // a, [[1], [0]])

    def test_events(self) -> None:
        event, stop, called = threading.Event(), threading.Event(), threading.Event()
        thread = threads.on_event(event, called.set, stop=stop)
        event.set()
        thread.join(SECONDS)
        assert called.is_set()
        silent = threading.Event()
        thread = threads.on_event(
            threading.Event(), silent.set, stop=stop, check_stop_interval_s=0.01
        )
        stop.set()
        thread.join(SECONDS)
        assert not thread.is_alive() and not silent.is_set()

    def test_wrong_arguments(self) -> None:
        with pytest.raises(ValueError, match="args must be a tuple, not"):
            threads.in_thread(print, args=[1])
        with pytest.raises(ValueError, match="Event must not be None"):
            threads.on_event(None, print)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="Stop event must be given for non-daemon"):
            threads.on_event(threading.Event(), print, daemon=False)


def test_pipe() -> None:
    pipe = streams.Pipe()
    writer = threads.in_thread(lambda: (pipe.write("abc"), pipe.write("def"), pipe.close()))
    assert [pipe.read(2), pipe.read(), pipe.read(), pipe.read()] == ["ab", "c", "def", None]
    writer.join(SECONDS)
    with pytest.raises(RuntimeError, match="Pipe is closed"):
        pipe.write("x")


class TestCache:
    """Values in a file."""

    def test_values_last_until_they_are_old(self, tmp_path: Path) -> None:
        folder = str(tmp_path / "c")
        cache.Cache(folder, 60, "p").put("k", [1])
        assert cache.Cache(folder, 60, "p").get("k") == [1]
        assert cache.Cache(folder, 60, "other").get("k") is None
        assert cache.Cache(folder, -1, "p").get("k") is None
        assert (tmp_path / "c" / "cache.bin").stat().st_mode & 0o77 == 0

    def test_a_damaged_file_counts_as_empty(self, tmp_path: Path) -> None:
        (tmp_path / "cache.bin").write_bytes(b"garbage")
        assert cache.Cache(str(tmp_path), 60, "p").get("k") is None

    def test_functions_are_asked_once(self, tmp_path: Path) -> None:
        calls = []

        @cache.use_cache()
        def work(x: int) -> int:
            calls.append(x)
            return x + 1

        memory = cache.Cache(str(tmp_path), 60, "p")
        assert [work(1, fn_cache=memory) for _ in range(3)] == [2, 2, 2]
        assert [work(1), work(1)] == [2, 2]
        assert calls == [1, 1, 1]


class TestSafeShellExec:
    """Commands that end when they should."""

    def test_exit_codes_and_output(self) -> None:
        out, err = io.StringIO(), io.StringIO()
        command = "echo a; echo b >&2; exit 3"
        assert safe_shell_exec.execute(command, stdout=out, stderr=err, index=7) == 3
        assert (out.getvalue(), err.getvalue()) == ("[7]<stdout>:a\n", "[7]<stderr>:b\n")
        assert safe_shell_exec.execute("kill -9 $$") == 137

    def test_the_environment_is_the_one_given(self) -> None:
        out = io.StringIO()
        given = {"A": "1", "PATH": os.environ["PATH"]}
        assert safe_shell_exec.execute('echo "$A-$HOME"', env=given, stdout=out) == 0
        assert out.getvalue() == "1-\n"

    def test_an_event_ends_the_command(self) -> None:
        event = threading.Event()
        threading.Timer(0.2, event.set).start()
        begin = time.monotonic()
        code = safe_shell_exec.execute("sleep 1000", events=[threading.Event(), event])
        assert code == 143
        assert time.monotonic() - begin < 4

    def test_a_tree_is_ended(self) -> None:
        import subprocess

        tree = subprocess.Popen(
            ["sh", "-c", "sleep 1000 & echo $!; wait $!"], stdout=subprocess.PIPE, text=True
        )
        assert tree.stdout is not None
        child = int(tree.stdout.readline())
        safe_shell_exec.terminate_executor_shell_and_children(tree.pid)
        assert tree.wait(SECONDS) != 0
        tree.stdout.close()
        assert not os.path.exists(f"/proc/{child}") or _is_zombie(child)

    def test_prefix_connection(self) -> None:
        read_end, write_end = os.pipe()
        os.write(write_end, b"a\nb")
        os.close(write_end)
        out = io.StringIO()
        with os.fdopen(read_end, "rb") as source:
            safe_shell_exec.prefix_connection(source, out, "stdout", 3, False)
        assert out.getvalue() == "[3]<stdout>:a\n[3]<stdout>:b"


def _is_zombie(pid: int) -> bool:
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"


def test_tiny_shell_exec() -> None:
    assert tiny_shell_exec.execute("echo a; echo b >&2; exit 2") == ("a\nb\n", 2)


def test_digests() -> None:
    digest = secret.compute_digest(KEY, b"m")
    assert len(KEY) == secret.SECRET_LENGTH and len(digest) == secret.DIGEST_LENGTH == 32
    assert secret.check_digest(KEY, b"m", digest)
    assert not secret.check_digest(KEY, b"n", digest)


def test_codec() -> None:
    text = codec.dumps_base64({"a": 1})
    assert isinstance(text, str) and codec.loads_base64(text) == {"a": 1}
    assert isinstance(codec.dumps_base64(1, to_ascii=False), bytes)


def test_timeout() -> None:
    limit = timeout.Timeout(0, "Timed out waiting for {activity}.")
    assert limit.remaining() == 0
    with pytest.raises(timeout.TimeoutException, match="Timed out waiting for x.*after 0 seconds"):
        limit.check_time_out_for("x")
    assert not timeout.Timeout(100, "m").timed_out()


def test_host_hash() -> None:
    name = socket.gethostname().partition(".")[0]
    assert host_hash.host_hash() == host_hash.host_hash() != host_hash.host_hash("salt")
    assert host_hash.host_hash().startswith(name + "-")
    assert host_hash._hash("test") == "098f6bcd4621d373cade4e832627b4f6"


def test_find_port() -> None:
    import socketserver

    server, port = find_port(lambda place: socketserver.TCPServer(place, object))  # type: ignore[arg-type]
    assert server.server_address[1] == port
    server.server_close()


def test_exportable_names() -> None:
    for name in ("BASH_FUNC_x%%", "OLDPWD", "CUDA_VISIBLE_DEVICES", "MY_CUDA_VISIBLE_DEVICES",
                 "_HOROVOD_SECRET_KEY", "HOROVODX_SECRET"):  # fmt: skip
        assert not env.is_exportable(name)
    for name in ("PATH", "HOME", "HOROVOD_CYCLE_TIME", "MY_OLDPWD"):
        assert env.is_exportable(name)


def test_rank_and_size_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.get_env_rank_and_size() == (0, 1)
    monkeypatch.setenv("PMI_RANK", "1")
    with pytest.raises(RuntimeError, match="PMI_SIZE"):
        env.get_env_rank_and_size()
    monkeypatch.setenv("PMI_SIZE", "2")
    assert env.get_env_rank_and_size() == (1, 2)
    monkeypatch.setenv("HOROVOD_RANK", "3")
    monkeypatch.setenv("HOROVOD_SIZE", "4")
    assert env.get_env_rank_and_size() == (3, 4)


def test_multi_file() -> None:
    files = [io.StringIO(), io.StringIO()]
    both = gloo_run.MultiFile(files)
    both.write("x")
    both.flush()
    assert [f.getvalue() for f in files] == ["x", "x"]


class TestControllers:
    """Which launcher runs."""

    @staticmethod
    def choose(**given: Any) -> str:
        chosen: list[str] = []
        controllers.run_controller(
            given.get("gloo"), lambda: chosen.append("gloo"),
            given.get("mpi"), lambda: chosen.append("mpi"),
            given.get("jsrun"), lambda: chosen.append("jsrun"), 0,
        )  # fmt: skip
        return chosen[0]

    @pytest.fixture
    def built(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        def set_built(mpi: bool, gloo: bool, lsf: bool = False) -> None:
            monkeypatch.setattr(util, "mpi_built", lambda verbose=False: mpi)
            monkeypatch.setattr(util, "gloo_built", lambda verbose=False: gloo)
            if lsf:
                monkeypatch.setenv("LSB_JOBID", "1")
            else:
                monkeypatch.delenv("LSB_JOBID", raising=False)

        return set_built

    def test_ours_unless_told_otherwise(self, built: Any) -> None:
        for mpi in (False, True):
            built(mpi=mpi, gloo=True)
            assert self.choose() == self.choose(gloo=True) == "gloo"
            assert controllers.is_gloo_used() and not controllers.is_gloo_used(use_mpi=True)
        built(mpi=False, gloo=True)
        with pytest.raises(ValueError, match="MPI support has not been built.*HOROVOD_WITH_MPI=1"):
            self.choose(mpi=True)

    def test_other_builds(self, built: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        built(mpi=True, gloo=True)
        assert (self.choose(gloo=True), self.choose(mpi=True)) == ("gloo", "mpi")
        with pytest.raises(ValueError, match="did not detect an LSF job"):
            self.choose(jsrun=True)
        built(mpi=True, gloo=False, lsf=True)
        assert self.choose(jsrun=True) == "jsrun"
        assert self.choose() == "mpi"
        monkeypatch.setattr(js_run, "is_jsrun_installed", lambda: True)
        assert self.choose() == "jsrun"
        with pytest.raises(ValueError, match="Gloo support has not been built.*WITH_GLOO=1"):
            self.choose(gloo=True)
        built(mpi=False, gloo=False)
        with pytest.raises(ValueError, match="Neither MPI nor Gloo support has been built"):
            self.choose()



class TestCommonUtil:
    """horovod.common.util."""

    def test_env_is_restored(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("A_SET", "1")
        with util.env(A_SET="2", A_NEW="3", A_NONE=None):
            assert (os.environ["A_SET"], os.environ["A_NEW"]) == ("2", "3")
            assert "A_NONE" not in os.environ
        assert os.environ["A_SET"] == "1" and "A_NEW" not in os.environ

    def test_lists_and_numbers(self) -> None:
        assert util.split_list([1, 2, 3, 4, 5], 3) == [[1, 2], [3, 4], [5]]
        assert util.split_list([1], 2) == [[1], []]
        assert [n for n in range(-1, 10) if util.num_rank_is_power_2(n)] == [1, 2, 4, 8]
        assert util.is_iterable([]) and util.is_iterable("") and not util.is_iterable(1)

    def test_versions(self) -> None:
        assert util.is_version_greater_equal_than("2.10.0", "2.9.1")
        assert not util.is_version_greater_equal_than("2.9", "2.9.1")
        with pytest.raises(ValueError):
            util.is_version_greater_equal_than("2.9.0", "2.9")
        with pytest.raises(ValueError):
            util.is_version_greater_equal_than(2, "2.9.0")  # type: ignore[arg-type]

    def test_op_and_average(self) -> None:
        class Ops:
            Average, Sum = 0, 1

        resolve = util.get_average_backwards_compatibility_fun(Ops)
        assert resolve(None, None) == 0 and resolve(1, None) == 1
        with pytest.warns(DeprecationWarning, match="`average` has been replaced with `op`"):
            assert resolve(None, False) == 1
        with pytest.raises(ValueError, match="The op parameter supersedes average"):
            resolve(1, True)

    def test_what_is_built(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert util.EXTENSIONS == ["tensorflow", "torch", "mxnet"]
        assert util.gloo_built() is True and type(util.mpi_built()) is bool
        assert util.nccl_built() == 0 and not util.ddl_built() and not util.ccl_built()
        assert not util.extension_available("mxnet", verbose=True)
        assert "mxnet is not installed" in capsys.readouterr().out
        assert util.gpu_available("mxnet") is False

    def test_extensions(self, tmp_path: Path) -> None:
        here = str(tmp_path / "__init__.py")
        path = util.get_extension_full_path(here, "a", "lib")
        assert path == str(tmp_path / "a" / "lib") + util.get_ext_suffix()
        with pytest.raises(ImportError, match="x has not been built.*not found"):
            util.check_extension("x", "HOROVOD_WITH_X", here, "a", "lib")
        (tmp_path / "a").mkdir()
        Path(path).touch()
        util.check_extension("x", "HOROVOD_WITH_X", here, "a", "lib")

    def test_cache_decorator(self) -> None:
        calls = []

        @util._cache
        def work(x: int, y: int = 0) -> int:
            calls.append(x)
            return x + y

        assert [work(1), work(1), work(1, y=2)] == [1, 1, 3]
        assert calls == [1, 1]
