"""The error of a broken contract."""

from __future__ import annotations

from types import TracebackType


class ContractError(AssertionError, ValueError):
    """An agent, an environment or rules that do not keep their contract; the message says who, where and what."""


class Contract:
    """Puts who is tested before every complaint; in a `with`, turns any error into a ContractError."""

    def __init__(self, who: str) -> None:
        self.who = who

    def require(self, holds: bool, complaint: str) -> None:
        """Raise ContractError with `complaint` unless it holds."""
        if not holds:
            raise ContractError(f"{self.who}: {complaint}")

    def __enter__(self) -> Contract:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, ContractError):
            raise ContractError(f"{self.who}: {type(error).__name__}: {error}") from error
