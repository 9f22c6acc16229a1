"""Training that survives failures and new hosts: State, and the loop that `run` puts around it.

A state is kept in memory. commit() keeps a copy, restore() goes back to it, sync() gives rank 0's
to all. `run_fn` calls a training function again whenever it was interrupted, with an engine that
has started anew.
"""

import functools
import os
import queue
from typing import Any, Callable, List, Optional, Sequence, Tuple

from horovod.common.exceptions import HorovodInternalError, HostsUpdatedInterrupt
from horovod.runner.elastic.worker import (
    HostUpdateResult,
    WorkerNotificationManager,
    has_elastic_driver,
)

__all__ = ["ObjectState", "State", "notification_manager", "run_fn"]

notification_manager = WorkerNotificationManager()

RESET_LIMIT = "HOROVODX_ELASTIC_RESET_LIMIT"
_DEFAULT_RESET_LIMIT = 10


class State:
    """What training must not lose; subclasses know how to save, restore and synchronise it.

    bcast_object: gives an object of rank 0 to all ranks and returns it.
    get_rank: this process's rank.
    """

    def __init__(
        self, bcast_object: Callable[[Any], Any], get_rank: Callable[[], int]
    ) -> None:
        self._bcast_object = bcast_object
        self._rank = get_rank
        self._host_messages: "queue.Queue[Tuple[float, HostUpdateResult]]" = queue.Queue()
        self._last_updated_timestamp: float = 0
        self._reset_callbacks: List[Callable[[], Any]] = []
        self._commits = 0

    def register_reset_callbacks(self, callbacks: Sequence[Callable[[], Any]]) -> None:
        """Functions to call after every reset: size() and rank() are new, the state is not."""
        self._reset_callbacks.extend(callbacks)

    def on_reset(self) -> None:
        """Called after a reset, before the state is synchronised."""
        self._host_messages = queue.Queue()  # they are about hosts of the time before
        self.reset()
        for callback in self._reset_callbacks:
            callback()

    def on_hosts_updated(self, timestamp: float, update_res: HostUpdateResult) -> None:
        """Hosts came or went; called by the thread that hears of it."""
        self._host_messages.put((timestamp, update_res))

    def commit(self) -> None:
        """Saves the state, then checks for new hosts. Costs a copy: not after every small step."""
        self.save()
        self._commits += 1
        self.check_host_updates()

    def check_host_updates(self) -> None:
        """Raises HostsUpdatedInterrupt on all ranks if rank 0 has heard of other hosts.

        A collective: all ranks must call it at the same point.
        """
        before = latest = self._last_updated_timestamp
        kinds = HostUpdateResult.no_update
        while True:
            try:
                timestamp, kind = self._host_messages.get_nowait()
            except queue.Empty:
                break
            if timestamp > before:
                latest = max(latest, timestamp)
                kinds |= kind
        before, latest, kinds = self._bcast_object((before, latest, int(kinds)))
        self._last_updated_timestamp = latest
        if latest > before:
            raise HostsUpdatedInterrupt(kinds == HostUpdateResult.removed)

    def save(self) -> None:
        """Keeps a copy in memory."""
        raise NotImplementedError

    def restore(self) -> None:
        """Goes back to the copy that was kept last."""
        raise NotImplementedError

    def sync(self) -> None:
        """Gives rank 0's state to all ranks."""
        raise NotImplementedError

    def reset(self) -> None:
        """What a subclass does after a reset, before the callbacks."""


class ObjectState(State):
    """Any objects that can be pickled: each keyword becomes an attribute.

    Values are kept by reference: an object that is changed in place is changed in the copy, too.
    """

    def __init__(
        self, bcast_object: Callable[[Any], Any], get_rank: Callable[[], int], **kwargs: Any
    ) -> None:
        super().__init__(bcast_object, get_rank)
        self._saved_state = kwargs
        self._set_attrs()

    def save(self) -> None:
        """Keeps the values of the attributes."""
        self._saved_state = {name: getattr(self, name) for name in self._saved_state}

    def restore(self) -> None:
        """Sets the attributes to what was kept."""
        self._set_attrs()

    def sync(self) -> None:
        """Sets the attributes of all ranks to what rank 0 has kept."""
        if self._saved_state:
            self._saved_state = self._bcast_object(self._saved_state)
            self._set_attrs()

    def _set_attrs(self) -> None:
        for name, value in self._saved_state.items():
            setattr(self, name, value)


class _Patience:
    """How often training may fail at one point, where no elastic driver counts."""

    def __init__(self) -> None:
        text = os.environ.get(RESET_LIMIT, "").strip() or str(_DEFAULT_RESET_LIMIT)
        if not text.isdigit():
            raise ValueError(f"{RESET_LIMIT} is {text!r}; expected a number from 0 on")
        self._limit = int(text)
        self._failures = 0
        self._commits: Optional[int] = None

    def failed(self, state: Any, error: Exception) -> None:
        """Raises when it is too often; a commit between two failures starts the count anew."""
        if has_elastic_driver() or self._limit == 0:
            return
        commits = getattr(state, "_commits", None)
        self._failures = self._failures + 1 if commits == self._commits else 1
        self._commits = commits
        if self._failures > self._limit:
            raise RuntimeError(
                f"Training failed {self._failures} times without a commit in between, and was "
                f"started over {self._limit} times ({RESET_LIMIT}; 0: for ever). The last error: "
                f"{error}"
            ) from error


def run_fn(func: Callable[..., Any], reset: Callable[[], Any]) -> Callable[..., Any]:
    """The function, called again after every interruption until it returns or raises.

    func: func(state, ...) that trains. After HorovodInternalError it starts from the last commit,
    after HostsUpdatedInterrupt from where it was.
    reset: stops the engine and starts it again.
    """

    @functools.wraps(func)
    def wrapper(state: Any, *args: Any, **kwargs: Any) -> Any:
        notification_manager.init()
        notification_manager.register_listener(state)
        try:
            return _until_it_returns(state, lambda: func(state, *args, **kwargs), reset)
        finally:
            notification_manager.remove_listener(state)

    return wrapper


def _until_it_returns(state: Any, train: Callable[[], Any], reset: Callable[[], Any]) -> Any:
    patience = _Patience()
    skip_sync, is_new = False, False
    why: Exception
    while True:
        try:
            if is_new:
                state.on_reset()
            if not skip_sync:
                state.sync()
            return train()
        except HorovodInternalError as error:
            patience.failed(state, error)
            state.restore()
            skip_sync, why = False, error
        except HostsUpdatedInterrupt as interrupt:
            # All ranks are at the same point: keep it, for sync() gives what was kept.
            state.save()
            skip_sync, why = interrupt.skip_sync, interrupt
        _start_again(reset, why)
        is_new = True


def _start_again(reset: Callable[[], Any], why: Exception) -> None:
    try:
        reset()
    except Exception as error:
        cause = "hosts changed" if isinstance(why, HostsUpdatedInterrupt) else str(why)
        raise RuntimeError(
            f"Horovod could not start again: {error}. It had to because: {cause}. If no rank is "
            "gone, but one was busy for longer, raise HOROVOD_GLOO_TIMEOUT_SECONDS."
        ) from error
