"""What stands for a field that is absent, which is not the same as null."""

from typing import Literal


class Unset:
    """The type of UNSET."""

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "UNSET"

    def __reduce__(self) -> str:
        # A copy, also in another process, is the same object: it is compared by `is`.
        return "UNSET"


UNSET: Unset = Unset()
