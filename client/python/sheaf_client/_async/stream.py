"""The changes of jobs, across reconnections."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from types import TracebackType

import httpx
from httpx_sse import EventSource

from sheaf_client._async.transport import AsyncTransport
from sheaf_client._call import Call
from sheaf_client._errors import SheafError, error_of, lost, unexpected
from sheaf_client._jobs import JobEvent
from sheaf_client._repeats import Repeats

# A connection that lasted this long was not refused, so the count of consecutive failures starts again.
_settled_seconds = 10


class AsyncJobStream(AsyncIterator[JobEvent]):
    """The changes of jobs: each event is the whole job in its present state.

    Open it in a `with` block: it is open when the block begins, so that you miss nothing that you do there, and ends
    with it. It raises SheafError when the service refuses it, or cannot be reached for too long.
    """

    last_event_id: str | None
    """The id of the last event that was read, after which another stream can start."""

    def __init__(
        self, transport: AsyncTransport, call: Callable[[str | None], Call[JobEvent]], last_event_id: str | None
    ) -> None:
        self.last_event_id = last_event_id
        self._transport = transport
        self._call = call
        self._response: httpx.Response | None = None
        self._events = self._follow()

    async def __aenter__(self) -> "AsyncJobStream":
        tries = 1
        while True:
            try:
                await self._open()
                return self
            except SheafError as error:
                delay = self._transport.retries.delay(error, tries, "repeatable")
                if delay is None:
                    raise
            await asyncio.sleep(delay)
            tries += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends the stream."""
        await self._events.aclose()
        await self._hang_up()

    async def __anext__(self) -> JobEvent:
        return await anext(self._events)

    async def _open(self) -> httpx.Response:
        if self._response is None:
            self._response = await self._transport.open(self._call(self.last_event_id))
            self.last_event_id = self.last_event_id or self._response.headers.get("last-event-id")
        return self._response

    async def _hang_up(self) -> None:
        if self._response is not None:
            await self._response.aclose()
        self._response = None

    async def _follow(self) -> AsyncGenerator[JobEvent, None]:
        repeats = Repeats()
        failures = 0
        was_admitted = False
        while True:
            since = time.monotonic()
            failure: SheafError | None = None
            try:
                async for event in self._read(await self._open()):
                    failures = 0
                    was_admitted = True
                    if repeats.is_new(event):
                        yield event
            except httpx.TransportError as error:
                failure = lost(error)
            except SheafError as error:
                if _is_permanent(error):
                    raise
                failure = error
            finally:
                await self._hang_up()
            was_admitted = was_admitted or failure is None or failure.status != 429
            failures = 1 if time.monotonic() - since > _settled_seconds else failures + 1
            await asyncio.sleep(self._reconnect_delay(failure, failures, was_admitted))

    async def _read(self, response: httpx.Response) -> AsyncGenerator[JobEvent, None]:
        async for message in EventSource(response).aiter_sse():
            # An advice on reconnecting has no data, and is no event.
            if not message.data:
                continue
            body = message.json()
            if message.event == "error":
                raise error_of(body, body.get("status", 500), response.headers)
            try:
                event = self._call(None).parse(body)
            except (TypeError, ValueError, AttributeError, KeyError) as error:
                raise unexpected(self._transport.url) from error
            self.last_event_id = message.id or self.last_event_id
            yield event

    def _reconnect_delay(self, failure: SheafError | None, failures: int, was_admitted: bool) -> float:
        retries = self._transport.retries
        # A stream that was open may still count at the service, which notices only later that the connection broke.
        limit = retries.attempts if failure and failure.status == 429 and not was_admitted else retries.reconnects
        delay = retries.wait(failure, failures)
        if failure and (failures > limit or delay is None):
            raise failure
        return delay or 0


def _is_permanent(error: SheafError) -> bool:
    """A mistake of the caller, a lost permission or another service, so that another try is useless."""
    return error.code == "UNEXPECTED_ANSWER" or (400 <= error.status < 500 and error.status != 429)
