"""Settings, shared packages (api, db, jobs, outbound, pages) and entry points (urls, celery, runtime, commands)."""
