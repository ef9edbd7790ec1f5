"""Settings, the foundation (api, db, jobs, outbound, pages) and the entry points (urls, celery, runtime, commands)."""
