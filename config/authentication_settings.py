"""The sign-in settings of Django, social-auth and django-axes, which config/settings.py includes."""

from __future__ import annotations

from typing import Any

_VALIDATION = "django.contrib.auth.password_validation"

AUTHENTICATION_SETTINGS: dict[str, Any] = {
    "AUTHENTICATION_BACKENDS": [
        "axes.backends.AxesStandaloneBackend",  # first: it refuses locked-out users
        "workspaces.sign_in.backend.OpenIdBackend",
        "django.contrib.auth.backends.ModelBackend",  # the operators' passwords, and every session
    ],
    "SOCIAL_AUTH_PIPELINE": ["workspaces.dashboard.sign_in.create_or_update_user"],
    "AUTH_PASSWORD_VALIDATORS": [
        {
            "NAME": f"{_VALIDATION}.UserAttributeSimilarityValidator",
            "OPTIONS": {"user_attributes": ("username", "email", "display_name")},
        },
        {"NAME": f"{_VALIDATION}.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
        {"NAME": f"{_VALIDATION}.CommonPasswordValidator"},
        {"NAME": f"{_VALIDATION}.NumericPasswordValidator"},
    ],
    # django-axes. config/console/operators/wrong_password_limits.py adds limits that it does not have.
    "AXES_HANDLER": "config.console.operators.wrong_password_limits.WrongPasswordLockoutHandler",
    "AXES_LOCKOUT_PARAMETERS": [["username", "ip_address"]],  # the pair: nobody can lock a name for everybody
    "AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT": False,
    "AXES_ONLY_ADMIN_SITE": True,  # sign-ins at the identity provider are neither counted nor locked
    "AXES_LOCKOUT_CALLABLE": "config.console.operators.wrong_password_limits.locked_out_page",
    "AXES_CLIENT_IP_CALLABLE": "config.console.operators.wrong_password_limits.sign_in_limit_address",
    "AXES_DISABLE_ACCESS_LOG": True,
    "AXES_VERBOSE": False,
}
