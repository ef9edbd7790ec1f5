"""Settings, the foundation (api, db, outbound) and the doors (urls, celery, site, commands) of the service."""
