"""Requests to the service, and to where it stores."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import TypeVar

import httpx

from sheaf_client import models
from sheaf_client._call import Call
from sheaf_client._errors import SheafError, json_of, lost, refusal, unexpected
from sheaf_client._retries import Retries
from sheaf_client._source import Progress, Source
from sheaf_client._version import __version__

T = TypeVar("T")


@dataclass(frozen=True)
class AsyncTransport:
    http: httpx.AsyncClient
    url: str
    api_key: str
    timeout: float
    retries: Retries

    async def send(self, call: Call[T]) -> T:
        """Makes a call, again where that does no harm. Raises SheafError."""
        if call.repetition == "keyed":
            call = replace(call, headers={"Idempotency-Key": str(uuid.uuid4()), **call.headers})
        tries = 1
        while True:
            try:
                return await self._send_once(call)
            except SheafError as error:
                delay = self.retries.delay(error, tries, call.repetition)
                if delay is None:
                    raise
            await asyncio.sleep(delay)
            tries += 1

    async def _send_once(self, call: Call[T]) -> T:
        try:
            response = await self.http.send(self._request(call, self.timeout))
        except httpx.TransportError as error:
            raise lost(error) from error
        if not response.is_success:
            raise refusal(response, self.url)
        try:
            return call.parse(json_of(response))
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            raise unexpected(self.url) from error

    async def open(self, call: Call[T]) -> httpx.Response:
        """Opens a stream of events. Raises SheafError, without another try."""
        try:
            response = await self.http.send(self._request(call, self.retries.max_silence), stream=True)
            if not response.is_success:
                await response.aread()
                raise refusal(response, self.url)
        except httpx.TransportError as error:
            raise lost(error) from error
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            await response.aclose()
            raise unexpected(self.url)
        return response

    def _request(self, call: Call[T], timeout: float) -> httpx.Request:
        own = {"Authorization": f"Bearer {self.api_key}", "User-Agent": f"sheaf-client-python/{__version__}"}
        return self.http.build_request(
            call.method.upper(),
            f"{self.url}/api/v1{call.path}",
            params=call.params,
            headers={**own, **call.headers},
            json=call.json,
            timeout=timeout,
        )

    async def put(self, target: models.Upload, source: Source, on_progress: Progress | None, is_resumed: bool) -> None:
        """Sends the bytes of an upload to its signed target, again unless they can be read only once. Raises SheafError."""
        retries = self.retries if source.is_repeatable else replace(self.retries, attempts=1)
        tries = 1
        while True:
            try:
                return await self._put_once(target, source, on_progress)
            except SheafError as error:
                # The object exists: the answer to an earlier try was lost, or an earlier program sent it.
                if error.status == 412 and (tries > 1 or is_resumed):
                    return
                delay = retries.delay(error, tries, "repeatable")
                if delay is None:
                    raise
            await asyncio.sleep(delay)
            tries += 1

    async def _put_once(self, target: models.Upload, source: Source, on_progress: Progress | None) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            for piece in source.pieces(on_progress):
                yield piece

        # Without the length the bytes would be sent with chunked encoding, which the service refuses.
        headers = {**target.headers, "Content-Length": str(source.size)}
        try:
            response = await self.http.put(target.url, content=pieces(), headers=headers, timeout=self.timeout)
        except httpx.TransportError as error:
            raise lost(error) from error
        if not response.is_success:
            raise refusal(response)
