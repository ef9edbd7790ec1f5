"""What the API views of all apps share: operations, callers, errors, idempotency, input, rate limits and OpenAPI."""
