"""The errors that recollex raises; all derive from `RecollexError`.

>>> from recollex.errors import InputError
>>> import recollex, tempfile
>>> try:
...     recollex.open(tempfile.mkdtemp()).agent("alice").retain("")
... except InputError as error:
...     print(error)
text is empty: give at least one character that is not a space
"""

from recollex_engine.errors import (
    AccessError,
    CancelledError,
    ClosedError,
    CorruptError,
    DeadlineError,
    DisconnectedError,
    EncryptionError,
    ForbiddenError,
    FormatError,
    InputError,
    InternalError,
    LanguageModelError,
    LockedError,
    MergeCycleError,
    ModelError,
    ModelMismatchError,
    OperationError,
    OverloadedError,
    ProtocolError,
    ReadOnlyError,
    RecollexError,
    RerankError,
    ServiceError,
    StoreFullError,
    StoreMovedError,
    TooManyFilesError,
    UnauthorizedError,
    UnknownIdError,
)

__all__ = [
    "AccessError",
    "CancelledError",
    "ClosedError",
    "CorruptError",
    "DeadlineError",
    "DisconnectedError",
    "EncryptionError",
    "ForbiddenError",
    "FormatError",
    "InputError",
    "InternalError",
    "LanguageModelError",
    "LockedError",
    "MergeCycleError",
    "ModelError",
    "ModelMismatchError",
    "OperationError",
    "OverloadedError",
    "ProtocolError",
    "ReadOnlyError",
    "RecollexError",
    "RerankError",
    "ServiceError",
    "StoreFullError",
    "StoreMovedError",
    "TooManyFilesError",
    "UnauthorizedError",
    "UnknownIdError",
]
