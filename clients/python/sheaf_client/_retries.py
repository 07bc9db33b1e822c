"""When a call is made again, and after which wait."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ._errors import SheafError

Repetition = Literal["repeatable", "keyed", "charged", "once"]
"""`repeatable` and `keyed` calls are made again even if the response was lost, the keyed ones with the same key; `charged`
ones if the service itself says that it is unavailable; `once` only after 429."""

# A bucket, which has no codes of its own here, was not sent enough in time, still works at an earlier try, or failed inside.
_passing_uploads = {"HTTP_408", "RequestTimeout", "HTTP_409", "HTTP_500"}
_gateways = {502, 503, 504}


@dataclass(frozen=True)
class Retries:
    """How often and after which waits a call is made again. Times are in seconds."""

    attempts: int = 4
    """The total number of tries; 1 for no retries."""
    base_delay: float = 0.25
    """The wait after the first failure; it doubles with each further one. Half of it is random."""
    max_delay: float = 8
    """The maximum of the doubling wait."""
    max_retry_after: float = 60
    """The maximum `Retry-After` to wait for; a longer one raises at once."""
    reconnects: int = 30
    """How many consecutive reconnections of a stream may fail before it gives up."""
    max_silence: float = 45
    """How long a stream may be silent before its connection counts as dead. The service sends something every 15 seconds."""

    def delay(self, error: SheafError, tries: int, repetition: Repetition) -> float | None:
        """The wait before a call is made again; None if it is not."""
        return self.wait(error, tries) if tries < self.attempts and may_repeat(error, repetition) else None

    def wait(self, error: SheafError | None, tries: int) -> float | None:
        """The wait after so many failures; None if the service asks for more than `max_retry_after`."""
        if error is None or error.retry_after is None:
            # Far beyond any maximum, and a power of some more than a thousand is no number.
            full = min(self.max_delay, self.base_delay * 2.0 ** min(tries - 1, 30))
            return full / 2 + random.random() * full / 2
        # With chance, so that clients that were refused together do not come back together.
        return None if error.retry_after > self.max_retry_after else error.retry_after + random.random() * self.base_delay


def may_repeat(error: SheafError, repetition: Repetition) -> bool:
    """Whether a call that failed so may be made again."""
    if error.status == 429:
        return True
    if repetition == "once":
        return False
    if error.status == 503 and error.defined:
        return True
    if repetition == "repeatable" and error.code in _passing_uploads:
        return True
    return repetition != "charged" and (error.code in ("NETWORK", "TIMEOUT") or error.status in _gateways)


def parse_retry_after(header: str | None) -> float | None:
    """Parses a `Retry-After` header, seconds or a date, into seconds."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
