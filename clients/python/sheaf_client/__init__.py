"""The client of Sheaf, sync and async. See README.md."""

from ._async.answer import AnswerEvent, AsyncAnswerStream
from ._async.client import AsyncClient
from ._async.stream import AsyncJobStream
from ._errors import JobFailed, SheafError
from ._jobs import Job, JobEvent
from ._retries import Retries
from ._sync.answer import AnswerStream
from ._sync.client import Client
from ._sync.stream import JobStream
from ._version import __version__
from .types import UNSET, Unset

__all__ = [
    "AnswerEvent",
    "AnswerStream",
    "AsyncAnswerStream",
    "AsyncClient",
    "AsyncJobStream",
    "Client",
    "Job",
    "JobEvent",
    "JobFailed",
    "JobStream",
    "Retries",
    "SheafError",
    "UNSET",
    "Unset",
    "__version__",
]
