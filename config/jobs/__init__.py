"""The package of background jobs: database rows with a due time, and the worker loops that process them.

No module of this package imports an app.
"""
