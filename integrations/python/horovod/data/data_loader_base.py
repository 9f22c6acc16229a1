"""BaseDataLoader, what every loader has; AsyncDataLoaderMixin, a thread that reads ahead for it."""

import queue
import threading
from typing import Any, Iterator, Optional


class BaseDataLoader:
    """Batches one after the other: derive from it and write `_iterate` and `__len__`."""

    def __len__(self) -> int:
        """Number of batches in a pass."""
        raise NotImplementedError

    def _iterate(self) -> Iterator[Any]:
        """Yields the batches of one pass."""
        raise NotImplementedError

    def _process_batch(self, batch: Any) -> Any:
        """Last touch to a batch, on the thread that consumes it."""
        return batch

    def __iter__(self) -> Iterator[Any]:
        for batch in self._iterate():
            yield self._process_batch(batch)


class _Raised:
    """An exception on its way from the reading thread to the consumer."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class AsyncDataLoaderMixin:
    """Put it first: `class Loader(AsyncDataLoaderMixin, MyLoader)`. Batches are read ahead.

    async_loader_queue_size: batches read ahead; 0 reads each when it is asked for.
    debug_data_loader: prints when the reading thread begins and ends.
    """

    def __init__(
        self,
        async_loader_queue_size: int = 64,
        debug_data_loader: bool = False,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        self.async_loader_queue_size = async_loader_queue_size
        self.debug_data_loader = debug_data_loader
        super().__init__(*args, **kwargs)
        self.started = False
        self.finished_event = threading.Event()
        self.queue: "queue.Queue[Any]" = queue.Queue(max(1, async_loader_queue_size))
        self.thread: Optional[threading.Thread] = None

    def __iter__(self) -> Iterator[Any]:
        if self.async_loader_queue_size <= 0:
            yield from super().__iter__()  # type: ignore[misc]
            return
        self._start()
        while True:
            batch = self.queue.get()
            if batch is None:  # the end of one pass
                return
            if isinstance(batch, _Raised):
                raise batch.error
            yield self._process_batch(batch)  # type: ignore[attr-defined]

    def close_async_loader(self) -> None:
        """Stops the reading thread and throws away what it has read."""
        self.finished_event.set()
        while self.thread is not None and self.thread.is_alive():
            self._drain()  # it may be waiting for room
            self.thread.join(0.05)
        self._drain()
        self.started = False
        self.thread = None

    def _start(self) -> None:
        if self.started:
            return
        self.started = True
        self.finished_event.clear()
        self.thread = threading.Thread(target=self._read_ahead, daemon=True)
        self.thread.start()

    def _drain(self) -> None:
        try:
            while True:
                self.queue.get_nowait()
        except queue.Empty:
            pass

    def _put(self, what: Any) -> bool:
        """False if the loader was closed meanwhile."""
        while not self.finished_event.is_set():
            try:
                self.queue.put(what, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def _read_ahead(self) -> None:
        if self.debug_data_loader:
            print("async data loader: reading ahead")
        try:
            while not self.finished_event.is_set():
                for batch in self._iterate():  # type: ignore[attr-defined]
                    if not self._put(batch):
                        return
                if not self._put(None):
                    return
        except BaseException as error:  # the consumer shall see it
            self.started = False
            self._put(_Raised(error))
        finally:
            if self.debug_data_loader:
                print("async data loader: done")
