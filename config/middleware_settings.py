"""The middlewares of every request, and those of API requests or of pages (config/pages/api_or_page.py)."""

from __future__ import annotations

MIDDLEWARE = [
    "config.api.middleware.TraceMiddleware",
    "config.api.middleware.AccessLogMiddleware",
    "config.api.middleware.ClientAddressMiddleware",
    "config.pages.security_headers.SecurityHeadersMiddleware",
    "config.api.middleware.RefuseTokenOverPlainHttpMiddleware",  # before the redirect to https
    "django.middleware.security.SecurityMiddleware",
    "config.api.middleware.BodyLimitMiddleware",
    "config.pages.api_or_page.ApiOrPageMiddleware",
]
API_MIDDLEWARE = [
    "django.middleware.common.CommonMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
PAGE_MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.pages.compression.PageCompressionMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.pages.language.PageLanguageMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "workspaces.sign_in.middleware.SessionUseMiddleware",
]
# These checks look in MIDDLEWARE alone for middlewares that are in PAGE_MIDDLEWARE.
SILENCED_SYSTEM_CHECKS = [
    *("admin.E408", "admin.E409", "admin.E410"),  # authentication, messages and sessions
    *("security.W002", "security.W003"),  # clickjacking and CSRF
    "axes.W002",
]
