"""Exceptions of MindRecord: each is also the built-in one that says what kind of mistake it is."""

from __future__ import annotations


class MindRecordException(Exception):
    """Base of all of them."""


class ParamTypeError(MindRecordException, TypeError):
    """An argument has another type."""


class ParamValueError(MindRecordException, ValueError):
    """An argument has a value that it cannot have."""


class PathNotExistsError(MindRecordException, ValueError):
    """A file or folder is not there."""


class MRMOpenError(MindRecordException, RuntimeError):
    """A file cannot be opened for writing."""


class MRMInvalidSchemaError(MindRecordException, ValueError):
    """A schema is none."""


class MRMAddSchemaError(MindRecordException, RuntimeError):
    """A schema comes at the wrong time."""


class MRMDefineIndexError(MindRecordException, ValueError):
    """A field cannot be an index field."""


class MRMGetMetaError(MindRecordException, RuntimeError):
    """There is no schema yet."""


class MRMDefineCategoryError(MindRecordException, ValueError):
    """A field cannot be the category field."""


class MRMReadCategoryInfoError(MindRecordException, RuntimeError):
    """No category field was chosen."""


class MRMFetchDataError(MindRecordException, RuntimeError):
    """Rows cannot be read."""


__all__ = [
    "MRMAddSchemaError",
    "MRMDefineCategoryError",
    "MRMDefineIndexError",
    "MRMFetchDataError",
    "MRMGetMetaError",
    "MRMInvalidSchemaError",
    "MRMOpenError",
    "MRMReadCategoryInfoError",
    "MindRecordException",
    "ParamTypeError",
    "ParamValueError",
    "PathNotExistsError",
]
