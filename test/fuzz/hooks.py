"""Hooks of Schemathesis: findings that are no faults, by name and each as narrow as it can be told, and a way past one limit.

The exceptions are what the service promises and no schema can say. All else that a check finds stays a finding.
"""

import itertools
import json

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


addresses = itertools.count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Sends each request from another address: one address may use the contact form five times an hour."""
    number = next(addresses)
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
