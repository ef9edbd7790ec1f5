"""The input of an API operation: reads and validates a request's body, query and `dry_run` flag."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from django.http.request import RawPostDataException
from rest_framework.request import Request

from config.api import errors
from config.api.caller import AgentMode
from config.api.serializers import StrictSerializer, shared_serializer_instance
from config.api.upload_body import read_upload_fields
from config.api.uploads import UploadTempFiles

if TYPE_CHECKING:
    from config.api.operation import Call, Operation

SAFE_METHODS = ("GET", "HEAD")
NO_BODY: Mapping[str, Any] = MappingProxyType({})


def read_unvalidated_body(declared: Operation, request: Request, spool: UploadTempFiles) -> Any:
    """Read an operation's input: return the parsed, not yet validated body, or NO_BODY if the operation takes no body.

    Raises MalformedRequest, UnsupportedMediaType, PayloadTooLarge.
    """
    if request.method in SAFE_METHODS or declared.body.raw:
        return NO_BODY
    if declared.body.upload:
        return read_upload_fields(request._request, spool)
    return request.data if request.META.get("CONTENT_LENGTH") not in (None, "", "0") else {}


def validated_body(declared: Operation, raw: Any, spool: UploadTempFiles) -> dict[str, Any]:
    """Return the validated body of a request to an operation; {} if the operation reads none."""
    if raw is NO_BODY:
        return {}
    if not declared.body.upload:
        return _checked(declared.body_serializer_class, raw)
    serializer_class = declared.body.upload.form_serializer if spool.is_form else declared.body_serializer_class
    serializer = serializer_class(data=raw, context={"spool": spool})
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def validated_query(declared: Operation, request: Request) -> dict[str, Any]:
    """Return the validated query parameters of a request to an operation; a repeated parameter is refused."""
    twice = [name for name, values in request.query_params.lists() if len(values) > 1]
    if twice:
        raise errors.ValidationFailed.for_field(twice[0], "This parameter is given more than once.", "repeated")
    return _checked(declared.query_serializer_class, request.query_params.dict())


def decide_dry_run_and_remove_flag(call: Call) -> bool:
    """Decide whether a request is a dry run, and remove `dry_run` from the operation's body and query.

    An agent in dry_run mode can only preview. Raises AgentModeForbids when it asks for a real call, and ValidationFailed
    when body and query disagree.
    """
    given = [source.pop("dry_run") for source in (call.data, call.query) if "dry_run" in source]
    if len(set(given)) > 1:
        raise errors.ValidationFailed.for_field("dry_run", "The body and the query have different values.", "conflict")
    wanted = bool(given and given[0])
    if call.caller.mode == AgentMode.DRY_RUN and call.operation.preview:
        if given and not wanted:
            raise errors.AgentModeForbids("The owner allows this agent to make dry runs only.")
        return True
    return wanted


def asks_for_dry_run(declared: Operation, request: Request, spool: UploadTempFiles) -> bool:
    """Read from an operation's possibly invalid input, as far as it can be parsed, whether it asks for a dry run."""
    if request.query_params.get("dry_run") == "true":
        return True
    if declared.body.upload:
        return spool.fields.get("dry_run") in (True, "true", "True")
    try:
        return isinstance(request.data, dict) and request.data.get("dry_run") is True
    except (errors.ApiError, RawPostDataException):  # the body cannot be read, or not a second time
        return False


def _checked(serializer: type[StrictSerializer], raw: Any) -> dict[str, Any]:
    return dict(shared_serializer_instance(serializer).run_validation(raw))
