"""Hooks of Schemathesis: findings that are no faults, by name each as narrow as it can be told, and requests that get far.

The exceptions are what the service promises and no schema can say. All else that a check finds stays a finding.
"""

import itertools
import json
import os
import re

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import (
    JsonSchemaError,
    MissingHeaderNotRejected,
    RejectedPositiveData,
    UnsupportedMethodResponse,
)


def cursor_that_no_list_issued(failure, response):
    """A `cursor` is signed: one of the right form is refused unless a list issued it."""
    return isinstance(failure, RejectedPositiveData) and is_refused_for(
        response, "cursor", "The cursor was not issued by this list."
    )


def idempotency_key_of_another_request(failure, response):
    """A key stands for the request that it was first used with."""
    return isinstance(failure, RejectedPositiveData) and is_refused_for(
        response, "Idempotency-Key", "This Idempotency-Key was used with another request."
    )


def event_of_another_stream(failure, response):
    """A `Last-Event-Id` is opaque: one of the right form is refused unless a stream of the same question sent it."""
    return isinstance(failure, RejectedPositiveData) and is_refused_for(
        response,
        "Last-Event-Id",
        "The Last-Event-Id was not issued by a stream of this question, or more than a day ago.",
    )


def event_whose_data_is_not_parsed(failure, response):
    """The document describes the `data` of an event as parsed, and says so; it is checked as a text here."""
    if not isinstance(failure, JsonSchemaError) or not isinstance(failure.instance, dict):
        return False
    return failure.instance.get("event") in ("message", "error") and isinstance(failure.instance.get("data"), str)


def session_where_only_keys_may_call(failure, response):
    """Who is signed in by a cookie is known, and forbidden."""
    return isinstance(failure, MissingHeaderNotRejected) and is_error(response, 403, "FORBIDDEN")


def method_that_a_path_does_not_have(failure, response):
    """It is NOT_FOUND, as a path that does not exist, and not 405."""
    return isinstance(failure, UnsupportedMethodResponse) and is_error(response, 404, "NOT_FOUND")


def malformed_id(failure, response):
    """It names no row: it is refused as an unknown id is, and as a filter it finds nothing."""
    if not isinstance(failure, AcceptedNegativeData) or not id_fields.search(failure.message):
        return False
    if response.status_code == 200:
        body = json.loads(response.content)
        return body.get("matched") == 0 or [] in (body.get(found) for found in ("results", "items", "entries", "documents", "jobs"))
    # Of several jobs one is told that cannot be, such as one of a document whose file is not there yet.
    refusals = ((404, "NOT_FOUND"), (403, "FORBIDDEN"), (412, "PRECONDITION_FAILED"))
    return any(is_error(response, *refusal) for refusal in refusals)


# As a parameter of a path, a query or a body. The document calls the id of a workspace in a path `slug`.
id_fields = re.compile(r"parameters? `(id|slug|\w+Id)`|\b\w+Ids?( ->|: Value not matching)|/properties/(id|slug|\w+Id)\b")


def address_by_the_rule_of_html(failure, response):
    """Addresses follow the rule of HTML, which takes some that the format `email` does not, such as `.=*fu@0`."""
    return isinstance(failure, AcceptedNegativeData) and "not matching the 'email' format" in failure.message


def what_no_schema_can_tell(failure, response):
    """What metadata, filters by it and schemas of fields may hold, times in UTC, hosts that need https, numbers given so far."""
    if not isinstance(failure, RejectedPositiveData) or not is_error(response, 400, "BAD_REQUEST"):
        return False
    issues = json.loads(response.content)["data"]["issues"]
    return all(issue["message"].startswith(untold) or "schema" in issue["path"] for issue in issues)


untold = (
    "must be well-formed Unicode without NUL",
    "must not have a field __proto__",
    "must name a field",
    "must be a text, a number, a boolean, null, or an object",
    "must be a time in UTC",
    "A public host is reached only over https.",
    "The last entry has the number ",
)


EXCEPTIONS = [
    cursor_that_no_list_issued,
    idempotency_key_of_another_request,
    event_of_another_stream,
    event_whose_data_is_not_parsed,
    session_where_only_keys_may_call,
    method_that_a_path_does_not_have,
    malformed_id,
    address_by_the_rule_of_html,
    what_no_schema_can_tell,
]


def is_refused_for(response, name, message):
    if not is_error(response, 400, "BAD_REQUEST"):
        return False
    return json.loads(response.content)["data"]["issues"] == [{"path": [name], "message": message}]


def is_error(response, status, code):
    if response.status_code != status:
        return False
    # The answer to HEAD has no body.
    return response.request.method == "HEAD" or json.loads(response.content)["code"] == code


@schemathesis.hook
def filter_failure(context, failure, case, response):
    return not any(is_exception(failure, response) for is_exception in EXCEPTIONS)


ids = re.compile("[A-Za-z0-9_-]{1,64}")
rows = {"organizationId": os.environ["ORGANIZATION_ID"], "workspaceId": os.environ["WORKSPACE_ID"]}
addresses = itertools.count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Lets a request get further than to an organization that is not there, or to the five an hour of the contact form."""
    if isinstance(case.body, dict):
        known = {name: row for name, row in rows.items() if is_id(case.body.get(name))}
        if known:
            case.body = {**case.body, **known}
    number = next(addresses)
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def is_id(value):
    """Whether it is an id of the right form: a wrong one is what the request is about."""
    return isinstance(value, str) and ids.fullmatch(value) is not None
