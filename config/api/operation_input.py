"""Reading and checking what comes in with the request of an operation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from django.http.request import RawPostDataException
from rest_framework.request import Request

from config.api import errors
from config.api.caller import Mode
from config.api.serializers import StrictSerializer, shape
from config.api.upload_body import read_fields
from config.api.uploads import Spool

if TYPE_CHECKING:
    from config.api.operation import Call, Operation

SAFE_METHODS = ("GET", "HEAD")
NO_BODY: Mapping[str, Any] = MappingProxyType({})


def read_body(declared: Operation, request: Request, spool: Spool) -> Any:
    """The body as it was sent; none is an empty object, and NO_BODY where none is read.

    Raises MalformedRequest, UnsupportedMediaType, PayloadTooLarge.
    """
    if request.method in SAFE_METHODS or declared.raw_body:
        return NO_BODY
    if declared.upload:
        return read_fields(request._request, spool)
    return request.data if request.META.get("CONTENT_LENGTH") not in (None, "", "0") else {}


def check_body(declared: Operation, raw: Any, spool: Spool) -> dict[str, Any]:
    """The checked body; empty where none is read. Raises DRF's ValidationError."""
    if raw is NO_BODY:
        return {}
    if not declared.upload:
        return _checked(declared.body_serializer, raw)
    serializer_class = declared.upload.form if spool.is_form else declared.body_serializer
    serializer = serializer_class(data=raw, context={"spool": spool})
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def check_query(declared: Operation, request: Request) -> dict[str, Any]:
    """The checked query. Raises DRF's ValidationError, and ValidationFailed for a parameter that is given twice."""
    twice = [name for name, values in request.query_params.lists() if len(values) > 1]
    if twice:
        raise errors.ValidationFailed.of(twice[0], "This parameter is given more than once.", "repeated")
    return _checked(declared.query_serializer, request.query_params.dict())


def take_dry_run(call: Call) -> bool:
    """Take `dry_run` out of body and query. An agent whose ceiling is dry_run can only preview.

    Raises ValidationFailed when body and query disagree, AgentModeForbids when such an agent asks for a real call.
    """
    told = [source.pop("dry_run") for source in (call.data, call.query) if "dry_run" in source]
    if len(set(told)) > 1:
        raise errors.ValidationFailed.of("dry_run", "The body and the query disagree.", "conflict")
    wanted = bool(told and told[0])
    if call.caller.mode == Mode.DRY_RUN and call.operation.preview:
        if told and not wanted:
            raise errors.AgentModeForbids("The owner lets this agent make dry runs only.")
        return True
    return wanted


def asked_for_preview(declared: Operation, request: Request, spool: Spool) -> bool:
    """Whether a request whose form was refused asked for a dry run, as far as it could be read."""
    if request.query_params.get("dry_run") == "true":
        return True
    if declared.upload:
        return spool.fields.get("dry_run") in (True, "true", "True")
    try:
        return isinstance(request.data, dict) and request.data.get("dry_run") is True
    except (errors.ApiError, RawPostDataException):  # the body cannot be read, or not a second time
        return False


def _checked(serializer: type[StrictSerializer], raw: Any) -> dict[str, Any]:
    return dict(shape(serializer).run_validation(raw))
