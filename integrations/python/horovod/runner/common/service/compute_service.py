"""Where the dispatchers and workers of a tf.data service, and those who read from it, meet.

It knows nothing of TensorFlow: dispatchers have numbers and addresses, workers have numbers.
"""

from __future__ import annotations

import threading
from typing import Any, Iterable

from horovod.runner.common.util.network import AckResponse, BasicClient, BasicService
from horovod.runner.common.util.timeout import Timeout, TimeoutException

_TURN_SECONDS = 10.0  # a question that may stay open for ever is asked again after so long
_ANSWER_SECONDS = 30.0  # more than it takes to answer one that is not open


class RegisterDispatcherRequest:
    """Dispatcher `dispatcher_id` is at this address."""

    def __init__(self, dispatcher_id: int, dispatcher_address: str) -> None:
        self.dispatcher_id = dispatcher_id
        self.dispatcher_address = dispatcher_address


class WaitForDispatcherRegistrationRequest:
    """Where is dispatcher `dispatcher_id`?"""

    def __init__(self, dispatcher_id: int, timeout: float) -> None:
        self.dispatcher_id = dispatcher_id
        self.timeout = timeout


class WaitForDispatcherRegistrationResponse:
    """There."""

    def __init__(self, dispatcher_address: str) -> None:
        self.dispatcher_address = dispatcher_address


class RegisterDispatcherWorkerRequest:
    """Worker `worker_id` works for dispatcher `dispatcher_id`."""

    def __init__(self, dispatcher_id: int, worker_id: int) -> None:
        self.dispatcher_id = dispatcher_id
        self.worker_id = worker_id


class WaitForDispatcherWorkerRegistrationRequest:
    """Does dispatcher `dispatcher_id` have all its workers?"""

    def __init__(self, dispatcher_id: int, timeout: float) -> None:
        self.dispatcher_id = dispatcher_id
        self.timeout = timeout


class ShutdownRequest:
    """No more data is needed."""


class WaitForShutdownRequest:
    """Has somebody said so? Asked in turns of `timeout` seconds."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout


class WaitForShutdownResponse:
    """Yes or no."""

    def __init__(self, shut_down: bool) -> None:
        self.shut_down = shut_down


class _Failed:
    """What was wrong with a request; the client raises it."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class ComputeService(BasicService):
    """Remembers who is where, and answers when everybody is there."""

    NAME = "Compute service"

    def __init__(
        self,
        dispatchers: int,
        workers_per_dispatcher: int,
        key: bytes,
        nics: Iterable[str] | None = None,
    ) -> None:
        if dispatchers <= 0:
            raise ValueError(f"The number of dispatchers must be larger than 0: {dispatchers}")
        if workers_per_dispatcher <= 0:
            raise ValueError(
                f"The number of workers per dispatcher must be larger than 0: "
                f"{workers_per_dispatcher}"
            )
        self._workers_per_dispatcher = workers_per_dispatcher
        self._addresses_of: list[str | None] = [None] * dispatchers
        self._workers_of: list[set[int]] = [set() for _ in range(dispatchers)]
        self._shut_down = False
        self._changed = threading.Condition()
        super().__init__(ComputeService.NAME, key, nics)

    def _handle(self, req: Any, client_address: tuple[str, int]) -> Any:
        try:
            return self._answer(req) or super()._handle(req, client_address)
        except (IndexError, ValueError, TimeoutException) as error:
            return _Failed(error)

    def _answer(self, req: Any) -> Any:
        if isinstance(req, RegisterDispatcherRequest):
            return self._register_dispatcher(req)
        if isinstance(req, WaitForDispatcherRegistrationRequest):
            return self._wait_for_dispatcher(req)
        if isinstance(req, RegisterDispatcherWorkerRequest):
            return self._register_worker(req)
        if isinstance(req, WaitForDispatcherWorkerRegistrationRequest):
            return self._wait_for_workers(req)
        if isinstance(req, ShutdownRequest):
            with self._changed:
                self._shut_down = True
                self._changed.notify_all()
            return AckResponse()
        if isinstance(req, WaitForShutdownRequest):
            with self._changed:
                self._changed.wait_for(lambda: self._shut_down, req.timeout)
                return WaitForShutdownResponse(self._shut_down)
        return None

    def _check(self, dispatcher_id: int) -> None:
        if not 0 <= dispatcher_id < len(self._addresses_of):
            raise IndexError(
                f"Dispatcher id must be within [0..{len(self._addresses_of) - 1}]: {dispatcher_id}"
            )

    def _register_dispatcher(self, req: RegisterDispatcherRequest) -> AckResponse:
        self._check(req.dispatcher_id)
        with self._changed:
            known = self._addresses_of[req.dispatcher_id]
            if known not in (None, req.dispatcher_address):
                raise ValueError(
                    f"Dispatcher with id {req.dispatcher_id} has already been registered under a "
                    f"different address {known}: {req.dispatcher_address}"
                )
            self._addresses_of[req.dispatcher_id] = req.dispatcher_address
            self._changed.notify_all()
        return AckResponse()

    def _wait_for_dispatcher(
        self, req: WaitForDispatcherRegistrationRequest
    ) -> WaitForDispatcherRegistrationResponse:
        self._check(req.dispatcher_id)
        limit = Timeout(req.timeout, "Timed out waiting for {activity}.")
        with self._changed:
            self._changed.wait_for(
                lambda: self._addresses_of[req.dispatcher_id] is not None, req.timeout
            )
            address = self._addresses_of[req.dispatcher_id]
        if address is None:
            raise _late(limit, f"dispatcher {req.dispatcher_id} to register")
        return WaitForDispatcherRegistrationResponse(address)

    def _register_worker(self, req: RegisterDispatcherWorkerRequest) -> AckResponse:
        self._check(req.dispatcher_id)
        with self._changed:
            workers = self._workers_of[req.dispatcher_id]
            if req.worker_id not in workers and len(workers) == self._workers_per_dispatcher:
                raise ValueError(
                    f"Dispatcher {req.dispatcher_id} has all its {len(workers)} workers "
                    f"{sorted(workers)}: worker {req.worker_id} is one too many"
                )
            workers.add(req.worker_id)
            self._changed.notify_all()
        return AckResponse()

    def _wait_for_workers(self, req: WaitForDispatcherWorkerRegistrationRequest) -> AckResponse:
        self._check(req.dispatcher_id)
        workers = self._workers_of[req.dispatcher_id]
        limit = Timeout(req.timeout, "Timed out waiting for {activity}.")
        with self._changed:
            if not self._changed.wait_for(
                lambda: len(workers) == self._workers_per_dispatcher, req.timeout
            ):
                raise _late(
                    limit,
                    f"workers of dispatcher {req.dispatcher_id} to register: {len(workers)} of "
                    f"{self._workers_per_dispatcher} have",
                )
        return AckResponse()


def _late(limit: Timeout, activity: str) -> TimeoutException:
    try:
        limit.check_time_out_for(activity)
    except TimeoutException as error:
        return error
    return TimeoutException(f"Timed out waiting for {activity}.")


class ComputeClient(BasicClient):
    """Talks to a ComputeService. Errors of the service are raised here."""

    def __init__(
        self,
        compute_addresses: dict[str, list[tuple[str, int]]],
        key: bytes,
        verbose: int = 1,
    ) -> None:
        super().__init__(ComputeService.NAME, compute_addresses, key, verbose)

    def _ask(self, req: Any, seconds: float = 0.0) -> Any:
        """The answer to a question that may stay open for so long."""
        places = [place for places in self._addresses.values() for place in places]
        for place in places:
            try:
                answer = self._talk(place, req, timeout=seconds + _ANSWER_SECONDS)
            except (OSError, EOFError) as error:
                if place == places[-1]:
                    raise ConnectionError(
                        f"the compute service at {place[0]}:{place[1]} has gone: {error}"
                    ) from error
                continue
            if isinstance(answer, _Failed):
                raise answer.error
            return answer
        return None

    def register_dispatcher(self, dispatcher_id: int, dispatcher_address: str) -> None:
        """Tells where a dispatcher is."""
        self._ask(RegisterDispatcherRequest(dispatcher_id, dispatcher_address))

    def wait_for_dispatcher_registration(self, dispatcher_id: int, timeout: float) -> str:
        """Where a dispatcher is, once that is known."""
        answer = self._ask(WaitForDispatcherRegistrationRequest(dispatcher_id, timeout), timeout)
        return str(answer.dispatcher_address)

    def register_worker_for_dispatcher(self, dispatcher_id: int, worker_id: int) -> None:
        """Tells that a dispatcher has one more worker."""
        self._ask(RegisterDispatcherWorkerRequest(dispatcher_id, worker_id))

    def wait_for_dispatcher_worker_registration(self, dispatcher_id: int, timeout: float) -> None:
        """Returns when a dispatcher has all its workers."""
        self._ask(WaitForDispatcherWorkerRegistrationRequest(dispatcher_id, timeout), timeout)

    def shutdown(self) -> None:
        """Tells that no more data is needed."""
        self._ask(ShutdownRequest())

    def wait_for_shutdown(self) -> None:
        """Returns when somebody has told that; an error if the service goes before that."""
        while not self._ask(WaitForShutdownRequest(_TURN_SECONDS), _TURN_SECONDS).shut_down:
            pass
