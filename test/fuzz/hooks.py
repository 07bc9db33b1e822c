"""Hooks of Schemathesis: findings that are no faults, by name each as narrow as it can be told, and requests that get far.

The exceptions are what the service promises and no schema can say. All else that a check finds stays a finding.
"""

import itertools
import json
import os
import re

import schemathesis
from schemathesis.openapi.checks import RejectedPositiveData, UnsupportedMethodResponse


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


def method_that_a_path_does_not_have(failure, response):
    """It is NOT_FOUND, as a path that does not exist, and not 405."""
    return isinstance(failure, UnsupportedMethodResponse) and is_error(response, 404, "NOT_FOUND")


EXCEPTIONS = [cursor_that_no_list_issued, idempotency_key_of_another_request, method_that_a_path_does_not_have]


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
