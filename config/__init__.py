"""The settings of the service, its shared packages (api, db, jobs, outbound, pages) and its entry points (urls, celery)."""
