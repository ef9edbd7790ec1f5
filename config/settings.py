"""Settings, all from the environment or a `.env` file; the README's table lists each with its default."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from config.environment import (
    BASE_DIR,
    data_dir,
    development_secret,
    env,
    platform_settings,
    price_list,
    seconds,
    secret,
    storages,
)

ENVIRONMENT = env.str("ENVIRONMENT", default="development")
PRODUCTION = ENVIRONMENT == "production"
DEBUG = env.bool("DEBUG", default=False)
DATA_DIR = data_dir()
BASE_URL = env.str("BASE_URL", default="http://127.0.0.1:8000").rstrip("/")

# Development makes its own secrets; production names what is missing (config/checks.py) instead of guessing.
SECRET_KEY = secret("SECRET_KEY", default="" if PRODUCTION else development_secret(DATA_DIR, "secret-key"))
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
ENCRYPTION_KEYS = env.list(
    "ENCRYPTION_KEYS", default=[] if PRODUCTION else [development_secret(DATA_DIR, "encryption-key")]
)
ALLOWED_HOSTS = env.list(
    "ALLOWED_HOSTS", default=[] if PRODUCTION else ["127.0.0.1", "localhost", "[::1]", urlsplit(BASE_URL).hostname]
)

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_celery_beat",
    "config",
    "config.api",
    "config.site",
    "auditlog",
    "workspaces",
    "agents",
    "billing",
    "webhooks",
    "accounts",
    "media",
    "posts",
]
MIDDLEWARE = [
    "config.api.trace.TraceMiddleware",
    "config.api.request_body.BodyLimitMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
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
            ]
        },
    }
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False  # a redirect would drop the body of a POST; an unknown path is a 404 in the envelope

# The database. SQLite needs IMMEDIATE transactions: a deferred one that turns writer fails at once under load.
DATABASES: dict[str, dict[str, Any]] = {
    "default": env.db_url("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'service.sqlite3'}")
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
    # No request waits for a lock longer than a repeat of its Idempotency-Key may (config/api/idempotency.py).
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 3,
        "options": "-c lock_timeout=10s -c idle_in_transaction_session_timeout=10s",
        **DATABASES["default"].get("OPTIONS", {}),
    }
# A new connection for each request costs PostgreSQL seven times the CPU of a kept one, and SQLite a few milliseconds.
DATABASES["default"]["CONN_MAX_AGE"] = 60
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", default="")
EMBEDDED = SQLITE and not REDIS_URL  # one web process and one worker process on this machine, nothing else

# Celery rings the bell and keeps the time; the rows in the database are the queue (config/db/due.py).
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
CELERY_BEAT_SCHEDULE = {
    "purge-idempotency-records": {"task": "config.api.tasks.purge_idempotency_records", "schedule": 3600.0},
    # What the deletion of a workspace sets going in the apps above it (they ask for its status).
    "disconnect-deleted-workspaces": {"task": "accounts.tasks.disconnect_deleted_workspaces", "schedule": 60.0},
    "refresh-tokens-ahead": {"task": "accounts.tasks.refresh_tokens_ahead", "schedule": 60.0},
    "purge-connection-attempts": {"task": "accounts.tasks.purge_connection_attempts", "schedule": 60.0},
    "destroy-secrets-of-deleted": {"task": "webhooks.tasks.destroy_secrets_of_deleted", "schedule": 60.0},
    "cancel-posts-of-deleted": {"task": "posts.tasks.cancel_posts_of_deleted", "schedule": 60.0},
    "end-subscriptions-of-deleted": {"task": "billing.tasks.end_subscriptions_of_deleted", "schedule": 60.0},
    "reconcile-billing": {"task": "billing.tasks.reconcile_at_night", "schedule": 3600.0},
    "purge-deleted-files": {"task": "media.tasks.purge_deleted_files", "schedule": 300.0},
    "purge-incoming": {"task": "media.tasks.purge_incoming", "schedule": 3600.0},
    "delete-media-of-purged": {"task": "media.tasks.delete_media_of_purged_workspaces", "schedule": 3600.0},
}

AUTH_USER_MODEL = "workspaces.User"
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [{"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"}]
LOGIN_URL = "/dashboard/sign-in"
LOGIN_REDIRECT_URL = "/dashboard/"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "config.api.handler.csrf_failure"
if PRODUCTION:
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-session", "__Host-csrf"
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
    SECURE_SSL_REDIRECT = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
WHITENOISE_USE_FINDERS = True  # static files are served out of their packages: nothing has to be collected first
MEDIA_ROOT = DATA_DIR / "storage"  # never media/: that folder is an app
MEDIA_URL = "/uploads/"  # served by nobody: files go out by signed links alone (media/links.py)
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "incoming"  # uploads, until they are checked and kept
FILE_UPLOAD_TEMP_DIR.mkdir(mode=0o700, exist_ok=True)
STORAGES = storages(secret("STORAGE_URL"))

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["agents.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["config.api.request_body.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "config.api.schema.OperationSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "config.api.handler.handle_exception",
    "URL_FORMAT_OVERRIDE": None,  # `format` is a query parameter of GET /logs
    "UNAUTHENTICATED_USER": None,
}
API_VERSION = "0.1.0"
SPECTACULAR_SETTINGS = {
    "TITLE": "Social Publishing Service",
    "DESCRIPTION": "Publish social posts from agents, scripts and dashboards through one HTTP/JSON API.",
    "VERSION": API_VERSION,
    "OAS_VERSION": "3.1.0",
    "LICENSE": {"name": "MIT", "identifier": "MIT"},
    "SERVERS": [{"url": BASE_URL}],
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "SORT_OPERATIONS": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "WEBHOOKS": "webhooks.openapi.EVENTS",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.api.schema.finish_document",
    ],
    "ENUM_NAME_OVERRIDES": {
        "Scope": "config.api.scopes.SCOPE_CHOICES",
        "DefaultMode": "config.api.caller.Mode",
        "WorkspaceStatus": "config.api.caller.WorkspaceStatus",
        "AgentStatus": "agents.models.Agent.Status",
        "ApiKeyStatus": "agents.serializers.KEY_STATUSES",
        "AccountStatus": "accounts.models.ConnectedAccount.Status",
        "ConnectionMethod": "accounts.models.ConnectedAccount.Method",
        "Platform": "accounts.platforms.registry.PLATFORMS",
        "Plan": "billing.plans.PLANS",
        "PostGroupStatus": "posts.states.GroupStatus",
        "PostTargetStatus": "posts.states.TargetStatus",
        "DeliveryStatus": "webhooks.models.DeliveryStatus",
        "EventKind": "webhooks.events.EventKind",
        "MediaKind": "media.models.MediaAsset.Kind",
        "MediaStatus": "media.models.MediaAsset.Status",
        "MediaScanStatus": "media.models.MediaAsset.Scan",
    },
}

# Where a low floor sets off a higher one, it is named here by dotted path (no signals).
WORKSPACE_ACCESS_RESOLVER = "workspaces.selectors.access_of"
REFUSAL_RECORDER = "auditlog.services.record_refusal"
WORKSPACE_PROVISIONERS = ["accounts.provisioning.SandboxAccounts"]
DUTIES = {
    "publish": "posts.publishing.duty.PublishDuty",
    "deliver": "webhooks.duty.DeliverDuty",
    "thumbnail": "media.duty.ThumbnailDuty",
    "processor_events": "billing.duty.ProcessorEventsDuty",
    "usage_reports": "billing.duty.UsageReportsDuty",
}

RATE_LIMIT_PER_MINUTE = env.int("RATE_LIMIT_PER_MINUTE", default=60)
OUTBOUND_ALLOW_LOOPBACK = env.bool("OUTBOUND_ALLOW_LOOPBACK", default=False)
OUTBOUND_USER_AGENT = f"SocialPublishingService/{API_VERSION}"
WEBHOOK_RETRY_SCHEDULE = seconds("WEBHOOK_RETRY_SCHEDULE", "5,300,1800,7200,18000,36000,36000")
PUBLISH_RETRY_SCHEDULE = seconds("PUBLISH_RETRY_SCHEDULE", "10,30,120,600,1800,3600")
WAIT_SECONDS = env.int("WAIT_SECONDS", default=25)
WEB_THREADS = env.int("WEB_THREADS", default=8)
DELETED_WORKSPACE_DAYS = env.int("DELETED_WORKSPACE_DAYS", default=30)  # then what a deleted workspace held is purged
SCHEDULE_GRACE_HOURS = env.int("SCHEDULE_GRACE_HOURS", default=24)
# Uploads: the limits of one file by its kind, in bytes; the bound on what an image becomes when it is decoded.
MEDIA_MAX_BYTES = {
    "image": env.int("MEDIA_MAX_IMAGE_BYTES", default=20 * 1024 * 1024),
    "video": env.int("MEDIA_MAX_VIDEO_BYTES", default=512 * 1024 * 1024),
    "document": env.int("MEDIA_MAX_DOCUMENT_BYTES", default=20 * 1024 * 1024),
}
MEDIA_MAX_PIXELS = env.int("MEDIA_MAX_PIXELS", default=40_000_000)
MEDIA_LINK_SECONDS = env.int("MEDIA_LINK_SECONDS", default=3600)  # how long the `url` of an answer is good
MEDIA_SCANNER = env.str("MEDIA_SCANNER", default="none")
CLAMAV_ADDRESS = env.str("CLAMAV_ADDRESS", default="127.0.0.1:3310")
OIDC_ISSUER = env.str("OIDC_ISSUER", default="")
# Cents for each published target: by platform, and by platform when the text carries a URL that it links.
PRICE_LIST = price_list("default=1,x=2,x+url=20")
# The payment processor. Without a key the service is in free beta; a plan without a price is not offered.
STRIPE_SECRET_KEY = secret("STRIPE_SECRET_KEY")
STRIPE_WEBHOOK_SECRET = secret("STRIPE_WEBHOOK_SECRET")
STRIPE_PRICES = {plan: env.str(f"STRIPE_PRICE_{plan.upper()}", default="") for plan in ("payg", "pro", "scale")}
STRIPE_METER_EVENT = env.str("STRIPE_METER_EVENT", default="social_publishing_cents")  # takes cents, adds them up
PAST_DUE_GRACE_DAYS = env.int("PAST_DUE_GRACE_DAYS", default=14)  # so long a failed payment leaves paid usage open
STRIPE_API_BASE = env.str("STRIPE_API_BASE", default="https://api.stripe.com")
# Each platform reads its own keys, such as X_CLIENT_ID or BLUESKY_API_BASE (accounts/platforms/base.py).
PLATFORM_SETTINGS = platform_settings()

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"trace": {"()": "config.api.trace.TraceFilter"}},
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(trace_id)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["trace"]}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        "celery.beat": {"level": "WARNING"},
        "django_celery_beat": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
    },
}
