"""Events that a connection repeats."""

from __future__ import annotations

from datetime import datetime

from ._jobs import JobEvent

_max_remembered = 10_000


class Repeats:
    """Knows the events of a stream so far. Each event holds the whole job, so an older one is redundant."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[datetime, object]] = {}

    def is_new(self, event: JobEvent) -> bool:
        """Whether an event is newer than the earlier ones of its job."""
        updated_at, state = event.updated_at, (event.status, event.attempts, event.workspace_id)
        known = self._seen.pop(event.id, None)
        is_old = known is not None and (known[0] > updated_at or known == (updated_at, state))
        self._seen[event.id] = known if known is not None and is_old else (updated_at, state)
        if len(self._seen) > _max_remembered:
            del self._seen[next(iter(self._seen))]
        return not is_old
