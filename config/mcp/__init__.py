"""The package of the Model Context Protocol endpoint, POST /mcp: tools for AI agents over the services of the API.

docs/architecture.md says why it does not use the models of mcp-types.
"""
