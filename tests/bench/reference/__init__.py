"""The reference API: hot calls written by hand with FastAPI, psycopg and plain SQL, without code of the service.

It runs on the service's own database and Redis, answers the same bytes and writes the same rows, so that the ratio of the
two says what the service's framework costs.
"""
