"""An answer, across reconnections."""

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeAlias

import httpx

from sheaf_client._async.event_stream import AsyncEventStream
from sheaf_client._errors import SheafError, lost
from sheaf_client.models import AnswerEndEvent, AnswerSentenceEvent

AnswerEvent: TypeAlias = AnswerSentenceEvent | AnswerEndEvent
"""A sentence, or all else; `type_` tells which."""


class AsyncAnswerStream(AsyncEventStream[AnswerEvent]):
    """The sentences of an answer, and its end, each once. It raises SheafError when the answer is refused, or lost for good."""

    async def _follow(self) -> AsyncGenerator[AnswerEvent, None]:
        tries = 1
        while True:
            failure = SheafError("NETWORK", "The stream ended before the answer did.")
            try:
                async for event in self._read(await self._open()):
                    tries = 1
                    yield event
                    if event.type_ == "end":
                        return
            except httpx.TransportError as error:
                failure = lost(error)
            except SheafError as error:
                failure = error
            finally:
                await self._hang_up()
            delay = self._transport.retries.delay(failure, tries, "keyed")
            if delay is None:
                raise failure
            await asyncio.sleep(delay)
            tries += 1
