"""horovod.data: loaders, and the thread that reads ahead."""

import threading

import pytest

from horovod.data import AsyncDataLoaderMixin, BaseDataLoader


class Numbers(BaseDataLoader):
    def __init__(self, count, fail_at=None):
        self.count, self.fail_at = count, fail_at

    def __len__(self):
        return self.count

    def _iterate(self):
        for i in range(self.count):
            if i == self.fail_at:
                raise ValueError("no batch three")
            yield i

    def _process_batch(self, batch):
        return batch * 10


class AsyncNumbers(AsyncDataLoaderMixin, Numbers):
    pass


def test_batches_in_order_and_processed():
    assert list(Numbers(4)) == [0, 10, 20, 30]
    assert len(Numbers(4)) == 4


@pytest.mark.parametrize("ahead", [0, 1, 3, 64])
def test_async_gives_the_same_in_every_pass(ahead):
    loader = AsyncNumbers(ahead, False, 5)
    for _ in range(3):
        assert list(loader) == [0, 10, 20, 30, 40]
    loader.close_async_loader()


@pytest.mark.parametrize("ahead", [0, 2])
def test_an_exception_reaches_the_consumer(ahead):
    loader = AsyncNumbers(ahead, False, 5, fail_at=3)
    seen = []
    with pytest.raises(ValueError, match="no batch three"):
        for batch in loader:
            seen.append(batch)
    assert seen == [0, 10, 20]
    loader.close_async_loader()


def test_close_ends_the_thread_though_nobody_reads():
    loader = AsyncNumbers(2, False, 1000)
    iterator = iter(loader)
    assert next(iterator) == 0
    thread = loader.thread
    loader.close_async_loader()
    assert not thread.is_alive()
    assert list(AsyncNumbers(2, False, 2)) == [0, 10]  # others are not disturbed
    assert list(loader)[:2] == [0, 10]  # and it can be read again
    loader.close_async_loader()
    assert threading.active_count() < 10
