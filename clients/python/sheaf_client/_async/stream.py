"""The changes of jobs, across reconnections."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable

import httpx

from sheaf_client._async.event_stream import AsyncEventStream
from sheaf_client._async.transport import AsyncTransport
from sheaf_client._call import Call
from sheaf_client._errors import SheafError, lost
from sheaf_client._jobs import JobEvent
from sheaf_client._repeats import Repeats

# A connection that lasted this long was not refused, so the count of consecutive failures starts again.
_settled_seconds = 10


class AsyncJobStream(AsyncEventStream[JobEvent]):
    """The changes of jobs: each event is the whole job in its present state.

    Open it in a `with` block: it is open when the block begins, so that you miss nothing that you do there, and ends
    with it. It raises SheafError when the service refuses it, or cannot be reached for too long.
    """

    def __init__(
        self, transport: AsyncTransport, call: Callable[[str | None], Call[JobEvent]], last_event_id: str | None
    ) -> None:
        super().__init__(transport, call, last_event_id)
        self._repeats = Repeats()
        self._was_admitted = False

    async def _follow(self) -> AsyncGenerator[JobEvent, None]:
        failures = 0
        while True:
            since = time.monotonic()
            failure: SheafError | None = None
            try:
                async for event in self._read(await self._open()):
                    failures = 0
                    self._was_admitted = True
                    if self._repeats.is_new(event):
                        yield event
            except httpx.TransportError as error:
                failure = lost(error)
            except SheafError as error:
                if _is_permanent(error):
                    raise
                failure = error
            finally:
                await self._hang_up()
            self._was_admitted = self._was_admitted or failure is None or failure.status != 429
            failures = 1 if time.monotonic() - since > _settled_seconds else failures + 1
            await asyncio.sleep(self._reconnect_delay(failure, failures))

    def _reconnect_delay(self, failure: SheafError | None, failures: int) -> float:
        retries = self._transport.retries
        # A stream that was open may still count at the service, which notices only later that the connection broke.
        limit = retries.attempts if failure and failure.status == 429 and not self._was_admitted else retries.reconnects
        delay = retries.wait(failure, failures)
        if failure and (failures > limit or delay is None):
            raise failure
        return delay or 0


def _is_permanent(error: SheafError) -> bool:
    """A mistake of the caller, a lost permission or another service, so that another try is useless."""
    return error.code == "UNEXPECTED_ANSWER" or (400 <= error.status < 500 and error.status != 429)
