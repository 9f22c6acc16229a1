"""Threads for functions, and for events."""

from __future__ import annotations

import queue
import threading
import traceback
from typing import Any, Callable, Iterable, Sequence


def in_thread(
    target: Callable[..., Any],
    args: Sequence[Any] = (),
    name: str | None = None,
    daemon: bool = True,
    silent: bool = False,
) -> threading.Thread:
    """Runs `target(*args)` in a new thread; with `silent`, exceptions are not printed."""
    if not isinstance(args, tuple):
        raise ValueError(f"args must be a tuple, not {type(args)}, for one argument use (arg,)")

    def guarded() -> None:
        try:
            target(*args)
        except BaseException:
            if not silent:
                traceback.print_exc()

    thread = threading.Thread(target=guarded, name=name, daemon=daemon)
    thread.start()
    return thread


def on_event(
    event: threading.Event,
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    stop: threading.Event | None = None,
    check_stop_interval_s: float = 1.0,
    daemon: bool = True,
    silent: bool = False,
) -> threading.Thread:
    """Calls `func(*args)` in a thread once `event` is set, unless `stop` is set before."""
    if event is None:
        raise ValueError("Event must not be None")
    if not isinstance(args, tuple):
        raise ValueError(f"args must be a tuple, not {type(args)}, for one argument use (arg,)")
    if stop is None and not daemon:
        raise ValueError("Stop event must be given for non-daemon event thread")

    def wait() -> None:
        while not event.wait(None if stop is None else check_stop_interval_s):
            if stop is not None and stop.is_set():
                return
        if stop is None or not stop.is_set():
            func(*args)

    return in_thread(wait, daemon=daemon, silent=silent)


def execute_function_multithreaded(
    fn: Callable[..., Any],
    args_list: Iterable[Sequence[Any]],
    block_until_all_done: bool = True,
    max_concurrent_executions: int = 1000,
) -> dict[int, Any] | None:
    """Calls `fn(*args)` for each of `args_list`, in threads.

    Results by position; None without waiting. The first exception is raised when all are done.
    """
    jobs: queue.Queue[tuple[int, Sequence[Any]]] = queue.Queue()
    for job in enumerate(args_list):
        jobs.put(job)
    results: dict[int, Any] = {}
    errors: list[BaseException] = []

    def work() -> None:
        while True:
            try:
                number, args = jobs.get_nowait()
            except queue.Empty:
                return
            try:
                results[number] = fn(*args)
            except BaseException as error:
                errors.append(error)

    count = min(jobs.qsize(), max_concurrent_executions)
    threads = [in_thread(work) for _ in range(count)]
    if not block_until_all_done:
        return None
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results
