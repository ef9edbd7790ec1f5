# One image for web, worker, beat and commands: what runs in it is the command (compose.yaml).
# The Python is the one that requirements.txt is locked for and the tests run on.
FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
COPY requirements.txt .
# Wheels alone, each held to its hash: nothing is compiled, nothing runs while it is installed.
RUN /opt/venv/bin/pip install --require-hashes --only-binary :all: --requirement requirements.txt
COPY . /opt/service
RUN python -m compileall -q /opt/service

FROM python:3.11-slim-bookworm
# For the second check of videos and their thumbnails.
RUN apt-get update && apt-get install --yes --no-install-recommends ffmpeg && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin service \
    && install --directory --owner service --group service --mode 0700 /data
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/service /opt/service
WORKDIR /opt/service
# Everything that is written lies in DATA_DIR and /tmp, so that the root may be mounted read-only.
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 ENVIRONMENT=production DATA_DIR=/data \
    FFPROBE=/usr/bin/ffprobe FFMPEG=/usr/bin/ffmpeg
USER service
VOLUME /data
EXPOSE 8000
# For web; the others bring their own. The service answers to its own host names alone, so the question names one.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.parse, urllib.request as web; host = urllib.parse.urlsplit(os.environ['BASE_URL']).netloc; web.urlopen(web.Request('http://127.0.0.1:8000/healthz', headers={'Host': host}), timeout=4)"]
# How many processes: WEB_CONCURRENCY, gunicorn's own.
CMD ["gunicorn", "--config", "python:config.gunicorn", "--bind", "0.0.0.0:8000", "config.wsgi:application"]
