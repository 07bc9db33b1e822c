"""A call of an operation, before it is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ._retries import Repetition

T = TypeVar("T")


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request below `/api/v1`, and how its answer is read."""

    method: str
    path: str
    repetition: Repetition
    parse: Callable[[Any], T]
    """Raises TypeError, ValueError, AttributeError or KeyError for JSON that is not the operation's answer."""
    params: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, Any] = field(default_factory=dict)
    json: Any = None
