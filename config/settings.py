"""The Django settings, read from environment variables or a `.env` file; a table in the README lists them."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from config import middleware_settings
from config.authentication_settings import AUTHENTICATION_SETTINGS
from config.beat_schedule import BEAT_SCHEDULE
from config.environment import (
    BASE_DIR,
    POSTGRES_OPTIONS,
    ensure_data_dir,
    env,
    load_or_create_dev_secret,
    read_platform_settings,
    read_price_list,
    read_seconds_list,
    read_secret,
    read_secret_list,
    storages_setting,
)
from config.logs import logging_config
from config.navigation_settings import PAGES
from config.openapi_settings import openapi_settings
from config.retention_settings import RETENTION_RULES

ENVIRONMENT = env.str("ENVIRONMENT", default="development")  # or production
PRODUCTION = ENVIRONMENT == "production"
DEBUG = env.bool("DEBUG", default=False)
DATA_DIR = ensure_data_dir()
BASE_URL = env.str("BASE_URL", default="http://127.0.0.1:8000").rstrip("/")

# Development generates its secrets; in production config/checks.py reports missing ones.
SECRET_KEY = read_secret("SECRET_KEY", default="" if PRODUCTION else load_or_create_dev_secret(DATA_DIR, "secret-key"))
SECRET_KEY_FALLBACKS = read_secret_list("SECRET_KEY_FALLBACKS")
ENCRYPTION_KEYS = read_secret_list(
    "ENCRYPTION_KEYS", default=[] if PRODUCTION else [load_or_create_dev_secret(DATA_DIR, "encryption-key")]
)
ALLOWED_HOSTS = env.list(
    "ALLOWED_HOSTS", default=[] if PRODUCTION else ["127.0.0.1", "localhost", "[::1]", urlsplit(BASE_URL).hostname]
)

INSTALLED_APPS = [
    "config.console.admin_app.OperatorAdminConfig",  # django.contrib.admin
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",  # so that the project's field template overrides Django's
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "heroicons",
    "django_celery_beat",
    "social_django",
    "axes",
    "config",
    "config.api",
    "config.jobs",
    "config.pages",
    "auditlog",
    "workspaces",
    "agents",
    "billing",
    "webhooks",
    "accounts",
    "media",
    "posts",
    "config.notices",
    "config.console",
]
MIDDLEWARE = middleware_settings.MIDDLEWARE
SILENCED_SYSTEM_CHECKS = middleware_settings.SILENCED_SYSTEM_CHECKS
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.pages.navigation.navigation_context",
            ]
        },
    }
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False  # a redirect would drop the body of a POST; an unknown path is a 404 in the envelope

# The database. SQLite needs IMMEDIATE transactions: a deferred one that turns writer fails at once under load.
DATABASES: dict[str, dict[str, Any]] = {
    "default": env.db_url_config(read_secret("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'service.sqlite3'}"))
}
SQLITE = DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3"
if SQLITE:
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["OPTIONS"] = POSTGRES_OPTIONS | DATABASES["default"].get("OPTIONS", {})
# A new connection for each request costs PostgreSQL seven times the CPU of a persistent one, and SQLite milliseconds.
DATABASES["default"]["CONN_MAX_AGE"] = 60
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# What each process keeps in its memory, such as the pages that posts link to (posts/services/linked_pages.py).
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 300}},
}
REDIS_URL = read_secret("REDIS_URL")
EMBEDDED = SQLITE and not REDIS_URL  # one web process and one worker process on this machine, nothing else

# Celery carries wake-ups and periodic tasks; the queue is in the database (config/jobs/claims.py).
CELERY_BROKER_URL = REDIS_URL or "memory://localhost/"
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {
        "visibility_timeout": 900,
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
        "socket_keepalive": True,
        "health_check_interval": 25,
    }
    if REDIS_URL
    else {"polling_interval": 0.05}
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 5
CELERY_BEAT_SCHEDULE = BEAT_SCHEDULE

AUTH_USER_MODEL = "workspaces.User"
vars().update(AUTHENTICATION_SETTINGS)
# Operators sign in to the console by password. See config/console/operators for the limits and the second factor.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
OPERATOR_SECOND_FACTOR = env.bool("OPERATOR_SECOND_FACTOR", default=PRODUCTION)
OPERATOR_SESSION_HOURS = env.int("OPERATOR_SESSION_HOURS", default=12)
OPERATOR_IDLE_MINUTES = env.int("OPERATOR_IDLE_MINUTES", default=30)  # an operator who does nothing is signed out
# The maximum age of a sign-in for changes to keys, members or workspaces; 0 disables the check.
REAUTHENTICATE_MINUTES = env.int("REAUTHENTICATE_MINUTES", default=10)
LOGIN_URL = "/dashboard/sign-in"
LOGIN_REDIRECT_URL = "/dashboard/"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "config.home.error_pages.csrf_failure"
if PRODUCTION:
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-session", "__Host-csrf"
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
    SECURE_SSL_REDIRECT = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]

# Pages for people are in these languages (config/pages/language.py). The API, commands and logs are in English.
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("es", "Español")]
LOCALE_PATHS = [BASE_DIR / "config" / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
FORMAT_MODULE_PATH = "config.console.formats"  # date formats of the console
# The folder for metrics of all processes (config/metrics.py); prometheus_client reads it when imported.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(DATA_DIR / "metrics")
STATIC_URL = "/static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", default=str(DATA_DIR / "static")))  # where collectstatic puts them
STATIC_ROOT.mkdir(exist_ok=True)
WHITENOISE_USE_FINDERS = True  # static files that are not collected are served from their packages
MEDIA_ROOT = DATA_DIR / "storage"  # never media/: that folder is an app
MEDIA_URL = "/uploads/"  # not served: files are available only by signed links (media/links.py)
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "incoming"  # uploads until they are checked and stored
FILE_UPLOAD_TEMP_DIR.mkdir(mode=0o700, exist_ok=True)
FILE_UPLOAD_HANDLERS = ["config.api.uploads.DiscardFilesUploadHandler"]  # forms accept files only on pages that ask for them
STORAGES = storages_setting(read_secret("STORAGE_URL"), production=PRODUCTION)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["agents.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["config.api.rendering.FastJsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["config.api.request_body.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "config.api.schema.OperationSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "config.api.error_handlers.handle_exception",
    "URL_FORMAT_OVERRIDE": None,  # `format` is a query parameter of GET /logs
    "UNAUTHENTICATED_USER": None,
}
API_VERSION = "0.1.0"
SPECTACULAR_SETTINGS = openapi_settings(base_url=BASE_URL, version=API_VERSION)

# Lower layers call these functions of higher layers by dotted path; there are no signals.
WORKSPACE_ACCESS_RESOLVER = "workspaces.selectors.member_access_or_none"
REFUSAL_RECORDER = "auditlog.services.record_refusal"
EVENT_RECORDER = "webhooks.services.store_event_without_delivery"
NAVIGATION = PAGES
PLATFORM_LABEL = "accounts.platforms.registry.platform_label"
PLATFORM_MARK = "accounts.platforms.marks.platform_mark"
WORKSPACE_PROVISIONERS = ["accounts.provisioning.SandboxAccountProvisioner"]
WORKER_LOOPS = {
    "publish": "posts.publishing.worker_loop.PublishLoop",
    "series": "posts.series_worker_loop.SeriesLoop",
    "deliver": "webhooks.worker_loop.DeliverLoop",
    "thumbnail": "media.worker_loop.ThumbnailLoop",
    "processor_events": "billing.worker_loops.ProcessorEventsLoop",
    "usage_reports": "billing.worker_loops.UsageReportsLoop",
    "mail": "workspaces.worker_loop.MailLoop",
    "notice_channels": "config.notices.channels.worker_loop.NoticeChannelsLoop",
}
RETENTION = RETENTION_RULES

RATE_LIMIT_PER_MINUTE = env.int("RATE_LIMIT_PER_MINUTE", default=60)  # API requests of one key or person
API_KEY_DEFAULT_DAYS = env.int("API_KEY_DEFAULT_DAYS", default=None)  # the default lifetime of keys; None: unlimited
MAX_RATE_LIMIT_PER_MINUTE = env.int("MAX_RATE_LIMIT_PER_MINUTE", default=600)  # the maximum for an agent
WORKSPACE_RATE_LIMIT_PER_MINUTE = env.int("WORKSPACE_RATE_LIMIT_PER_MINUTE", default=1200)  # all of its keys together
# The highest monthly free credit that a caller can set for a new workspace.
MAX_FREE_CREDIT_CENTS = env.int("MAX_FREE_CREDIT_CENTS", default=100)
MAX_WORKSPACES_PER_OWNER = env.int("MAX_WORKSPACES_PER_OWNER", default=20)
TRUSTED_PROXIES = env.list("FORWARDED_ALLOW_IPS", default=["127.0.0.1", "::1"])
OUTBOUND_ALLOW_LOOPBACK = env.bool("OUTBOUND_ALLOW_LOOPBACK", default=False)
OUTBOUND_NAMESERVERS = env.list("OUTBOUND_NAMESERVERS", default=[])  # instead of those in resolv.conf
OUTBOUND_USER_AGENT = f"SocialPublishingService/{API_VERSION}"
WEBHOOK_RETRY_SCHEDULE = read_seconds_list("WEBHOOK_RETRY_SCHEDULE", "5,300,1800,7200,18000,36000,36000")
PUBLISH_RETRY_SCHEDULE = read_seconds_list("PUBLISH_RETRY_SCHEDULE", "10,30,120,600,1800,3600")
WAIT_SECONDS = env.int("WAIT_SECONDS", default=25)  # how long an API request with `wait: true` waits for its post
WEB_THREADS = env.int("WEB_THREADS", default=8)
WORKER_METRICS_ADDRESS = env.str("WORKER_METRICS_ADDRESS", default="")  # host:port of a worker's own /metrics
ADMIN_TOKEN = read_secret("ADMIN_TOKEN")  # grants access to /ops and /metrics, which answer 404 without it
DELETED_WORKSPACE_DAYS = env.int("DELETED_WORKSPACE_DAYS", default=30)  # after this, a deleted workspace is purged
SERIES_AHEAD_DAYS = env.int("SERIES_AHEAD_DAYS", default=7)  # how long before their time posts of series are scheduled
SCHEDULE_GRACE_HOURS = env.int("SCHEDULE_GRACE_HOURS", default=24)  # how late a scheduled post is still published
# Uploads: the maximum size of a file by kind, in bytes, and the maximum number of pixels of an image.
MEDIA_MAX_BYTES = {
    "image": env.int("MEDIA_MAX_IMAGE_BYTES", default=20 * 1024 * 1024),
    "video": env.int("MEDIA_MAX_VIDEO_BYTES", default=512 * 1024 * 1024),
    "document": env.int("MEDIA_MAX_DOCUMENT_BYTES", default=20 * 1024 * 1024),
}
MEDIA_QUOTA_BYTES = env.int("MEDIA_QUOTA_BYTES", default=5_000_000_000)  # for all files of a workspace; 0: no quota
MEDIA_MAX_PIXELS = env.int("MEDIA_MAX_PIXELS", default=40_000_000)
FFPROBE = env.str("FFPROBE", default="")  # the path of ffprobe, checks videos a second time
FFMPEG = env.str("FFMPEG", default="")  # the path of a program that makes thumbnails of videos
MEDIA_LINK_SECONDS = env.int("MEDIA_LINK_SECONDS", default=3600)  # how long the `url` in answers is valid
MEDIA_SCANNER = env.str("MEDIA_SCANNER", default="none")  # or "clamav"
CLAMAV_ADDRESS = env.str("CLAMAV_ADDRESS", default="127.0.0.1:3310")
# The identity provider: sign-in needs the client; the API accepts its tokens if the audience is set.
OIDC_ISSUER = env.str("OIDC_ISSUER", default="")
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", default="")
OIDC_CLIENT_SECRET = read_secret("OIDC_CLIENT_SECRET")
OIDC_AUDIENCE = env.str("OIDC_AUDIENCE", default="")
OIDC_REQUIRED_SCOPE = env.str("OIDC_REQUIRED_SCOPE", default="")  # for providers whose access tokens are not at+jwt
OIDC_ALLOW_CLIENT_CREDENTIALS = env.bool("OIDC_ALLOW_CLIENT_CREDENTIALS", default=False)  # programs as API users
# In access tokens, for operations that need a recent sign-in.
OIDC_REQUIRE_AUTH_TIME = env.bool("OIDC_REQUIRE_AUTH_TIME", default=False)
OIDC_SCOPES = env.str("OIDC_SCOPES", default="openid profile email").split()
OIDC_STAFF_CLAIM = env.str("OIDC_STAFF_CLAIM", default="")  # makes users operators; such as groups=operators
# E-mail is sent by a worker (workspaces/services/mail.py); without a server it is written to the log.
vars().update(env.email_url_config(read_secret("EMAIL_URL", default="consolemail://")))
EMAIL_TIMEOUT = 10
SIGN_IN_BY_EMAIL = env.bool("SIGN_IN_BY_EMAIL", default=not OIDC_ISSUER)  # people may sign in by a link in an e-mail
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default=f"no-reply@{urlsplit(BASE_URL).hostname}")
# Cents for each published target, by platform, and for a text with a link (`x+url`).
PRICE_LIST = read_price_list("default=1,x=2,x+url=20")
# The payment processor. Without a key the service is in free beta; a plan without a price is not offered.
STRIPE_SECRET_KEY = read_secret("STRIPE_SECRET_KEY")
STRIPE_WEBHOOK_SECRET = read_secret("STRIPE_WEBHOOK_SECRET")
STRIPE_PRICES = {plan: env.str(f"STRIPE_PRICE_{plan.upper()}", default="") for plan in ("payg", "pro", "scale")}
STRIPE_METER_EVENT = env.str("STRIPE_METER_EVENT", default="social_publishing_cents")  # a sum of cents
# Paid usage stays allowed for this long after a failed payment.
PAST_DUE_GRACE_DAYS = env.int("PAST_DUE_GRACE_DAYS", default=14)
STRIPE_API_BASE = env.str("STRIPE_API_BASE", default="https://api.stripe.com")
# Settings of platforms, such as X_CLIENT_ID or BLUESKY_API_BASE (accounts/platforms/base.py).
PLATFORM_SETTINGS = read_platform_settings()

LOGGING = logging_config()
