"""The first comment below a post that is out: whatever becomes of it, the post stays. Sources: developers.facebook.com,
graph-api/reference/object/comments, instagram-platform/instagram-graph-api/reference/ig-media/comments."""

from __future__ import annotations

from accounts.platforms.errors import AccountDisconnected, ContentRejected, OutcomeUnknown
from accounts.platforms.meta.errors import Product
from accounts.platforms.meta.graph import Graph, GraphError, id_of
from config.outbound import NoAnswer, NotSent


def comment(product: Product, graph: Graph, object_id: str, text: str) -> None:
    """Comment below a post. Raises platform errors, which are about the comment alone."""
    try:
        id_of(graph.post(f"/{object_id}/comments", {"message": text}))
    except NotSent as error:
        raise product.fault(error) from error
    except NoAnswer as error:
        raise OutcomeUnknown(f"{product.label} did not say whether it took the first comment.") from error
    except GraphError as error:
        if error.status >= 500 or product.kind_of(error) == "passing":
            message = (
                f"{product.label} answered with {error.label} and may have taken the first comment: {error.reason}"
            )
            raise OutcomeUnknown(message) from error
        fault = product.refusal(error, "the first comment")
        if isinstance(fault, AccountDisconnected):  # who may publish need not be allowed to comment
            raise ContentRejected(f"The first comment was not made. {fault.message}") from error
        raise fault from error
