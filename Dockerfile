# One image for web, worker, beat and management commands; the container's command selects which one runs (compose.yaml).
# The Python version is the one that requirements.txt is locked for and that the tests use.
FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
COPY requirements.txt .
# Installs only wheels, and checks the hash of each: the installation compiles nothing and runs no code of the packages.
RUN /opt/venv/bin/pip install --require-hashes --only-binary :all: --requirement requirements.txt
COPY . /opt/service
RUN python -m compileall -q /opt/service
# Static files get hashes of their content in their names, and are compressed.
RUN cd /opt/service && ENVIRONMENT=production DATA_DIR=/tmp/data STATIC_ROOT=/opt/service/static_files \
    /opt/venv/bin/python manage.py collectstatic --noinput

FROM python:3.11-slim-bookworm
# For the second check of videos, and for their thumbnails.
RUN apt-get update && apt-get install --yes --no-install-recommends ffmpeg && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin service \
    && install --directory --owner service --group service --mode 0700 /data
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/service /opt/service
WORKDIR /opt/service
# The service writes only to DATA_DIR and /tmp, so the root file system can be read-only.
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 ENVIRONMENT=production DATA_DIR=/data \
    STATIC_ROOT=/opt/service/static_files \
    FFPROBE=/usr/bin/ffprobe FFMPEG=/usr/bin/ffmpeg
USER service
VOLUME /data
EXPOSE 8000
# For web; the other containers define their own. The service answers only to its own host names, so the request uses one.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.parse, urllib.request as web; host = urllib.parse.urlsplit(os.environ['BASE_URL']).netloc; web.urlopen(web.Request('http://127.0.0.1:8000/healthz', headers={'Host': host}), timeout=4)"]
# gunicorn reads the number of processes from WEB_CONCURRENCY.
CMD ["gunicorn", "--config", "python:config.gunicorn", "--bind", "0.0.0.0:8000", "config.wsgi:application"]
