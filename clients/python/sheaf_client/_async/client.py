"""The client."""

import asyncio
import re
import time
import uuid
from dataclasses import replace
from types import TracebackType
from typing import Any, cast

import httpx

from sheaf_client._async.answer import AnswerEvent, AsyncAnswerStream
from sheaf_client._async.operations import AsyncOperations
from sheaf_client._async.stream import AsyncJobStream
from sheaf_client._async.transport import AsyncTransport
from sheaf_client._call import Call
from sheaf_client._errors import JobFailed, SheafError
from sheaf_client._jobs import Job, JobEvent
from sheaf_client._retries import Retries, may_repeat
from sheaf_client._source import File, Progress, content_type_of, source_of
from sheaf_client.api.documents import documents_ask_stream, documents_complete, documents_delete
from sheaf_client.api.jobs import jobs_stream
from sheaf_client.models import Charset, ContentType, Document, Question, SearchFilter, SearchMode
from sheaf_client.types import UNSET, Unset

_first_wait = 0.2
_longest_wait = 5.0
# How long one try to delete the document of a failed upload may take.
_withdrawal_seconds = 5.0


class AsyncClient(AsyncOperations):
    """Every operation of one service, by group and name, as one API key; and some that combine several of them.

    Use it in a `with` block, which closes its connections. Every call raises SheafError if it fails.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        timeout: float = 75,
        retries: Retries = Retries(),
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """`url` is the root of the service: `https://api.example.com`. `timeout` is that of one try, in seconds. `http`
        is for proxies, certificates and the like; the client closes it. The token of a session does as `api_key`. Raises
        ValueError if the url is none that can be called, or the key none that can be sent."""
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url ({url}) must be that of the service, such as https://api.example.com.")
        # The error of a header would show the key.
        api_key = api_key.strip()
        if not re.fullmatch("[!-~]+", api_key):
            raise ValueError("api_key must not be empty, nor have blanks or line breaks within it.")
        self._transport = AsyncTransport(http or httpx.AsyncClient(), url.rstrip("/"), api_key, timeout, retries)
        super().__init__(self._transport.send)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._transport.http.aclose()

    async def upload(
        self,
        workspace_id: str,
        file: File,
        *,
        name: str | None = None,
        content_type: str | None = None,
        charset: str | None = None,
        size: int | None = None,
        sha256: str | None = None,
        replaces: str | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        on_progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Document:
        """Uploads a document: records it, sends its bytes straight to storage, completes it.

        Name and content type are by default those of the path. `charset`, of a text, is found by its bytes if it is
        not given. `size`, in bytes, is needed of what cannot be sought in,
        such as a pipe. `sha256`, of the bytes, in hex, and `replaces`, the id of a document: see
        `documents.create_upload`. `on_progress` is called with the bytes sent and all bytes; the count starts again if the connection
        breaks. An upload that fails deletes its document. With an `idempotency_key` it survives your program: the same upload
        with the same key goes on with the same document, within a day. One that was ended from outside, lost its connection
        or met a failure that passes keeps its document for that. One that failed otherwise does not: the same key
        then leads to a 404 for that day. Raises SheafError; ValueError if name, type or size are not known; what reading
        the file raises.
        """
        source = source_of(file, size)
        name = name or source.name
        content_type = content_type or content_type_of(name or "")
        if not name or not content_type:
            raise ValueError("name and content_type are needed where the path does not tell them.")
        created = await self.documents.create_upload(
            workspace_id=workspace_id,
            name=name,
            content_type=cast(ContentType, content_type),
            size=source.size,
            sha256=UNSET if sha256 is None else sha256,
            replaces=UNSET if replaces is None else replaces,
            charset=UNSET if charset is None else cast(Charset, charset),
            tags=UNSET if tags is None else tags,
            metadata=UNSET if metadata is None else metadata,
            idempotency_key=UNSET if idempotency_key is None else idempotency_key,
        )
        if isinstance(created.upload, Unset):
            # The workspace has `onDuplicate: return`: this document was there before.
            return created.document
        try:
            await self._transport.put(created.upload, source, on_progress, is_resumed=idempotency_key is not None)
            return await self.documents.complete(created.document.id)
        except BaseException as error:
            # The key finds this document for a day, also once it is deleted.
            keeps = idempotency_key is not None and (_may_go_on(error) or await self._may_be_complete(created.document.id))
            if not keeps:
                await self._withdraw(created.document.id)
            raise

    async def _may_be_complete(self, document_id: str) -> bool:
        """Whether an earlier program with the same key has sent the bytes, or that cannot be found out."""
        try:
            await replace(self._transport, timeout=_withdrawal_seconds).send(documents_complete.call(document_id))
        except SheafError as error:
            return _may_go_on(error)
        return True

    async def _withdraw(self, document_id: str) -> None:
        """Deletes a document. Never raises SheafError: the service removes what is left within a day."""
        deletion = replace(documents_delete.call(document_id), repetition="repeatable")
        try:
            await replace(self._transport, timeout=_withdrawal_seconds).send(deletion)
        except SheafError:
            pass

    def ask_stream(
        self,
        workspace_id: str,
        *,
        question: str,
        limit: int | Unset = UNSET,
        mode: SearchMode | Unset = UNSET,
        filter_: SearchFilter | Unset = UNSET,
        max_sentences: int | Unset = UNSET,
        before: str | None | Unset = UNSET,
        conversation: list[str] | Unset = UNSET,
        draft: bool | Unset = UNSET,
        idempotency_key: str | None = None,
        last_event_id: str | None = None,
    ) -> AsyncAnswerStream:
        """Asks the documents of a workspace, as `documents.ask` does, and follows the answer: its sentences, then the end. It is
        given and charged once for each `idempotency_key`; pass your own to survive a restart. After `last_event_id` the same
        answer goes on."""
        body = Question(
            question=question,
            limit=limit,
            mode=mode,
            filter_=filter_,
            max_sentences=max_sentences,
            before=before,
            conversation=conversation,
            draft=draft,
        )
        # An event id has the key in it.
        key = idempotency_key or (str(uuid.uuid4()) if last_event_id is None else None)

        def call(after: str | None) -> Call[AnswerEvent]:
            return documents_ask_stream.call(
                workspace_id,
                body=body,
                idempotency_key=UNSET if key is None else key,
                last_event_id=UNSET if after is None else after,
            )

        return AsyncAnswerStream(self._transport, call, last_event_id)

    async def wait_for(self, job_id: str, *, timeout: float | None = None, return_failed: bool = False) -> Job:
        """Waits until a job is `succeeded` or `canceled`, or, with `return_failed`, has failed.

        Raises JobFailed once it has failed, and TimeoutError after so many seconds. It polls; to wait for many jobs, follow
        `stream_jobs`.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        wait = _first_wait
        while True:
            job = await self.jobs.get(job_id)
            if job.status == "failed" and not return_failed:
                raise JobFailed(job)
            if job.status not in ("queued", "running"):
                return job
            if deadline is not None and time.monotonic() + wait > deadline:
                raise TimeoutError(f"The job {job_id} is still {job.status} after {timeout} seconds.")
            await asyncio.sleep(wait)
            wait = min(_longest_wait, wait * 1.5)

    def stream_jobs(
        self, organization_id: str, *, workspace_id: str | None = None, last_event_id: str | None = None
    ) -> AsyncJobStream:
        """Follows the jobs of an organization, or of one workspace; see AsyncJobStream. A user or key may hold five."""
        # By this id the service knows that a connection replaces a broken one.
        stream_id = str(uuid.uuid4())

        def call(after: str | None) -> Call[JobEvent]:
            return jobs_stream.call(
                organization_id,
                workspace_id=UNSET if workspace_id is None else workspace_id,
                last_event_id=UNSET if after is None else after,
                stream_id=stream_id,
            )

        return AsyncJobStream(self._transport, call, last_event_id)


def _may_go_on(error: BaseException) -> bool:
    """Whether the same upload may succeed later: it was ended from outside, its response was lost, it was too slow, or whoever
    refused it may take it another time."""
    if not isinstance(error, SheafError):
        return not isinstance(error, Exception)
    return may_repeat(error, "repeatable") or error.status == 408 or error.status >= 500
