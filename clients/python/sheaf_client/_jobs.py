"""The kinds of jobs, as one type each."""

from typing import TypeAlias

from . import models

Job: TypeAlias = (
    models.ExtractJob
    | models.DocumentSummaryJob
    | models.IndexJob
    | models.TextSummaryJob
    | models.EmbedJob
    | models.FieldsJob
    | models.ProcessJob
)
"""A job of any kind; `kind` tells which."""

JobEvent: TypeAlias = (
    models.ExtractJobEvent
    | models.DocumentSummaryJobEvent
    | models.IndexJobEvent
    | models.TextSummaryJobEvent
    | models.EmbedJobEvent
    | models.FieldsJobEvent
    | models.ProcessJobEvent
)
"""A job in the stream: `input` and `result` are present once it is final."""
