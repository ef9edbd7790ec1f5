"""The OAuth 2.1 authorization server, by which programs get a token that is an agent, without copying keys.

oauthlib reads the requests and checks them by the RFCs' rules; this package stores clients, grants and tokens.
docs/architecture.md says why it does not use django-oauth-toolkit.
"""
