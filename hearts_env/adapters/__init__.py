"""Hearts for other libraries: one module a library, which imports that library when it is imported itself."""

from __future__ import annotations


class MissingLibraryError(ImportError, ValueError):
    """An adapter whose library is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        """library: as it is imported.  extra: of this package, which installs it."""
        super().__init__(f"this adapter needs {library}: install the extra, pip install 'hearts_env[{extra}]'")
