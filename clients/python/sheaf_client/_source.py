"""The bytes of an upload."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from io import BytesIO, TextIOBase
from pathlib import Path
from typing import BinaryIO, TypeAlias

from ._content_types import CONTENT_TYPES
from ._errors import SheafError

_piece_bytes = 64 * 1024

File: TypeAlias = "str | os.PathLike[str] | bytes | BinaryIO"
"""A path, bytes, or a file that is open for reading bytes."""
Progress: TypeAlias = Callable[[int, int], None]
"""Takes the bytes that were sent so far, and all bytes."""


@dataclass(frozen=True)
class Source:
    """Bytes that are read a piece at a time, so that a large file needs little memory."""

    open: Callable[[], AbstractContextManager[BinaryIO]]
    size: int
    name: str | None
    is_repeatable: bool = True

    def pieces(self, on_progress: Progress | None) -> Iterator[bytes]:
        """Reads the bytes from their beginning. Raises SheafError with WRONG_SIZE if there are more or fewer than declared."""
        sent = 0
        with self.open() as file:
            while piece := file.read(_piece_bytes):
                sent += len(piece)
                if sent > self.size:
                    raise self._wrong_size("more")
                yield piece
                if on_progress:
                    on_progress(sent, self.size)
        if sent < self.size:
            raise self._wrong_size("fewer")

    def _wrong_size(self, what: str) -> SheafError:
        return SheafError("WRONG_SIZE", f"The file has {what} than the {self.size} bytes that were declared.")


def source_of(file: File, size: int | None) -> Source:
    """Raises OSError if a path cannot be read, ValueError if a file is open for text, or the size of a pipe is not given."""
    if isinstance(file, (str, os.PathLike)):
        path = Path(file)
        return Source(lambda: path.open("rb"), path.stat().st_size if size is None else size, path.name)
    if isinstance(file, (bytes, bytearray, memoryview)):
        return Source(lambda: BytesIO(file), len(file) if size is None else size, None)
    if isinstance(file, TextIOBase):
        raise ValueError('The file is open for reading text: open it for bytes, with the mode "rb".')
    name = getattr(file, "name", None)
    name = os.path.basename(name) if isinstance(name, str) else None
    if not file.seekable():
        if size is None:
            raise ValueError("A file that cannot be sought in needs its size.")
        return Source(lambda: nullcontext(file), size, name, is_repeatable=False)
    start = file.tell()
    end = file.seek(0, os.SEEK_END)
    return Source(lambda: _rewound(file, start), end - start if size is None else size, name)


def _rewound(file: BinaryIO, start: int) -> AbstractContextManager[BinaryIO]:
    file.seek(start)
    return nullcontext(file)


def content_type_of(name: str) -> str | None:
    """The content type by the extension of a name; None if no service takes it."""
    return CONTENT_TYPES.get(Path(name).suffix.removeprefix(".").lower())
