"""The API's hot calls written by hand: FastAPI on uvicorn, asynchronous psycopg, plain SQL, nothing of the service's code.

It runs on the service's own database and Redis, answers the same bytes and writes the same rows, so that the ratio of the
two says what the service's framework costs.
"""
