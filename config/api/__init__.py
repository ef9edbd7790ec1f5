"""The package of what the API views of all apps share: operations, callers, errors, input, rate limits and OpenAPI."""
