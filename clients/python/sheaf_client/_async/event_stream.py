"""Streams of events, of which each opens a connection again after the last event that it read."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from types import TracebackType
from typing import Generic, TypeVar

import httpx
from httpx_sse import EventSource

from sheaf_client._async.transport import AsyncTransport
from sheaf_client._call import Call
from sheaf_client._errors import SheafError, error_of, unexpected

E = TypeVar("E")


class AsyncEventStream(AsyncIterator[E], Generic[E]):
    """Events of one operation. Use it in a `with` block: it is open when the block begins, and ends with it."""

    last_event_id: str | None
    """The id of the last event that was read, after which another stream can start."""

    def __init__(
        self, transport: AsyncTransport, call: Callable[[str | None], Call[E]], last_event_id: str | None
    ) -> None:
        self.last_event_id = last_event_id
        self._transport = transport
        self._call = call
        self._response: httpx.Response | None = None
        self._events = self._follow()

    async def __aenter__(self) -> AsyncEventStream[E]:
        tries = 1
        while True:
            try:
                await self._open()
                return self
            except SheafError as error:
                delay = self._transport.retries.delay(error, tries, self._call(None).repetition)
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

    async def __anext__(self) -> E:
        try:
            return await anext(self._events)
        except BaseException as error:
            # Cancelled or interrupted while it waited, and that ends a generator, as if there were no more events. The next
            # call goes on after the last one.
            if not isinstance(error, Exception):
                self._events = self._follow()
            raise

    async def _open(self) -> httpx.Response:
        if self._response is None:
            self._response = await self._transport.open(self._call(self.last_event_id))
            self.last_event_id = self.last_event_id or self._response.headers.get("last-event-id")
        return self._response

    async def _hang_up(self) -> None:
        # Forgotten first: the closing may be cancelled.
        response, self._response = self._response, None
        if response is not None:
            await response.aclose()

    @abstractmethod
    def _follow(self) -> AsyncGenerator[E, None]: ...

    async def _read(self, response: httpx.Response) -> AsyncGenerator[E, None]:
        async for message in EventSource(response).aiter_sse():
            # An advice on reconnecting has no data, and is no event.
            if not message.data:
                continue
            try:
                body = message.json()
                if message.event == "error":
                    raise error_of(body, body.get("status", 500), response.headers)
                event = self._call(None).parse(body)
            except (TypeError, ValueError, AttributeError, KeyError) as error:
                raise unexpected(self._transport.url) from error
            self.last_event_id = message.id or self.last_event_id
            yield event
