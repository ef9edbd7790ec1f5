"""The Model Context Protocol endpoint, POST /mcp: tools for AI agents over the same services as the API."""
