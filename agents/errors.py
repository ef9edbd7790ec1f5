"""The API errors for agents' one-time claim tokens that are invalid, used or expired."""

from __future__ import annotations

from config.api.errors import ApiError


class ClaimTokenUnknown(ApiError):
    status, code = 422, "CLAIM_TOKEN_INVALID"
    message = "This is not a claim token of this service."
    suggested_action = "Check the token; the owner can rotate the agent's key to get a working one."


class ClaimTokenUsed(ApiError):
    status, code = 409, "CLAIM_TOKEN_USED"
    message = "This claim token was already used, or the agent got a key without it."
    suggested_action = "Use the key that was issued, or ask the owner to rotate the agent's key."


class ClaimTokenExpired(ApiError):
    status, code = 410, "CLAIM_TOKEN_EXPIRED"
    message = "This claim token is older than 24 hours."
    suggested_action = "Ask the owner to rotate the agent's key, which issues a new key at once."
