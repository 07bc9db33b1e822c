"""What goes wrong, with its code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from ._jobs import Job
from ._retries import parse_retry_after


class SheafError(Exception):
    """The service refused a call, or did not answer."""

    code: str
    """A code of the contract (`NOT_FOUND`, …) or of storage (`too_large`, …), or found by the client itself: `NETWORK`,
    `TIMEOUT`, `UNEXPECTED_ANSWER`, `WRONG_SIZE`."""
    status: int
    """The HTTP status; 0 if there was no answer."""
    data: Any
    """The data of the code, as JSON: of `LIMIT_REACHED` a dict with `kind`, `limit` and `plan`."""
    defined: bool
    """Whether the operation declares the code."""
    request_id: str | None
    """The `X-Request-Id` of the answer, which is in the service's log."""
    retry_after: float | None
    """The seconds to wait that the service asks for."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        data: Any = None,
        defined: bool = False,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.status = status
        self.data = data
        self.defined = defined
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class JobFailed(SheafError):
    """A job that was waited for has failed; `code` and `message` are those of its `error`."""

    def __init__(self, job: Job) -> None:
        code, message = (job.error.code, job.error.message) if job.error else ("unknown", "The job failed.")
        super().__init__(code, message)
        self.job = job
        # What it is made of again where it is sent to another process.
        self.args = (job,)


def refusal(response: httpx.Response, url: str | None = None) -> SheafError:
    """The error of an answer, which must have been read. Nothing may be there because `url` is not the root."""
    body = json_of(response)
    if body is None and "<Code>RequestTimeout</Code>" in response.text:
        # S3 says it with 400, as it does of what is wrong for good.
        body = {"error": "RequestTimeout"}
    error = error_of(body, response.status_code, response.headers)
    if url and error.status in (404, 405) and not error.defined:
        error.message += f" Note that {_root_hint(url)}"
    return error


def error_of(body: Any, status: int, headers: Mapping[str, str]) -> SheafError:
    """The error that a body describes."""
    fields = body if isinstance(body, dict) else {}
    # Storage, a body that is too large and a failure inside have only a name. What stands before the service may have an object.
    name = fields.get("code") or fields.get("error")
    return SheafError(
        name if isinstance(name, str) else f"HTTP_{status}",
        str(fields.get("message") or f"The request was refused with {status}."),
        status=status,
        data=fields.get("data"),
        defined=fields.get("defined") is True,
        request_id=headers.get("x-request-id"),
        retry_after=parse_retry_after(headers.get("retry-after")),
    )


def lost(error: httpx.TransportError) -> SheafError:
    """The error of a request without a complete answer."""
    if isinstance(error, httpx.TimeoutException):
        return SheafError("TIMEOUT", "The service did not answer in time.")
    return SheafError("NETWORK", f"The service could not be reached, or its response was lost ({error}).")


def unexpected(url: str) -> SheafError:
    """The error of an answer that no service of this kind, or a newer one, gives."""
    return SheafError("UNEXPECTED_ANSWER", f"The answer is not one of this version of the service: {_root_hint(url)}")


def _root_hint(url: str) -> str:
    return f"url ({url}) must be the root of the service, without /api/v1."


def json_of(response: httpx.Response) -> Any:
    """The body of an answer; None if it is not JSON."""
    try:
        return response.json()
    except ValueError:
        return None
