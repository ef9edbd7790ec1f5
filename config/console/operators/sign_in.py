"""The operators' sign-in pages in the console: first the password, then a code of the second factor.

Between the two steps the browser's session remembers for ten minutes who entered the right password. It grants no access.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import segno
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.views import LoginView
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.generic.edit import FormView

from config.console.models import SecondFactor
from config.console.operators import audit
from workspaces.models import User
from workspaces.sign_in.sessions import SignInMethod, sign_in_method, sign_in_user

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

PENDING_SESSION_KEY = "pending_operator"  # in the session: {"user", "at", "next", "device"}
PENDING_TTL = timedelta(minutes=10)
SECOND_FACTOR_SIGN_IN_METHODS = (
    SignInMethod.PASSWORD_AND_CODE,
    SignInMethod.PROVIDER,
)  # the identity provider has its own second factor


def satisfies_second_factor_rule(request: HttpRequest) -> bool:
    """Return whether this operator signed in with a second factor, or does not need one (OPERATOR_SECOND_FACTOR)."""
    return not settings.OPERATOR_SECOND_FACTOR or sign_in_method(request) in SECOND_FACTOR_SIGN_IN_METHODS


class PasswordStep(LoginView):
    """The first sign-in page of an operator in the console, which asks for name and password."""

    template_name = "admin/login.html"
    authentication_form = AdminAuthenticationForm
    next_page = "admin:index"

    def form_valid(self, form: Any) -> HttpResponse:
        user = cast(User, form.get_user())
        if not settings.OPERATOR_SECOND_FACTOR:
            _sign_in(self.request, user, by=SignInMethod.PASSWORD)
            return HttpResponseRedirect(self.get_success_url())
        self.request.session.cycle_key()
        self.request.session[PENDING_SESSION_KEY] = {
            "user": user.pk,
            "at": timezone.now().timestamp(),
            "next": self.get_success_url(),
        }
        return redirect("admin:second-factor")

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the operator's sign-in form again, and record a failed sign-in if the password was checked and was wrong."""
        if getattr(self.request, "sign_in_wait", None) == 0:
            audit.record_failed_operator_sign_in(self.request, form.cleaned_data["username"], reason="wrong_password")
        return super().form_invalid(form)


class CodeForm(forms.Form):
    """The sign-in form in which an operator enters a code of the authenticator app or a recovery code."""

    code = forms.CharField(
        max_length=40,
        label=_("Code"),
        widget=forms.TextInput({"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}),
    )


@method_decorator([never_cache, sensitive_post_parameters()], name="dispatch")
class SecondFactorPageBase(FormView):
    """Base class of the sign-in pages that an operator sees after the right password."""

    form_class = CodeForm
    title: StrOrPromise = ""
    user: User

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = _pending_user(request)
        if user is None:
            messages.info(request, gettext("Sign in with your name and password first."))
            return redirect("admin:login")
        self.user = user
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **shown: Any) -> dict[str, Any]:
        return super().get_context_data(**{**admin.site.each_context(self.request), "title": self.title, **shown})

    @property
    def pending_session_data(self) -> dict[str, Any]:
        return cast(dict[str, Any], self.request.session[PENDING_SESSION_KEY])

    def verify_code_and_return_factor(self, form: CodeForm, **wanted: Any) -> SecondFactor | None:
        """Verify and use up the code that an operator entered at sign-in; return the SecondFactor that it belongs to.

        If the code is wrong, record a failed sign-in, add a form error, and return None.
        """
        problem = gettext("This code is wrong or was already used.")
        with transaction.atomic():
            device = SecondFactor.objects.select_for_update().filter(user=self.user, **wanted).first()
            allowed, _ = device.verify_is_allowed() if device else (True, None)
            if device and device.verify_token(form.cleaned_data["code"]):
                return device
        if allowed:
            audit.record_failed_operator_sign_in(self.request, self.user.get_username(), reason="wrong_code")
        else:
            problem = gettext("Too many wrong codes. Wait a while, then try again; the wait grows with each wrong code.")
        form.add_error("code", problem)
        return None


class CodeStep(SecondFactorPageBase):
    """The second sign-in page of an operator in the console, which asks for an app's code or a recovery code."""

    template_name = "admin/second_factor.html"
    title = _("Second factor")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not _has_second_factor(self.user):
            return redirect("admin:second-factor-set-up")
        return super().get(request, *args, **kwargs)

    def form_valid(self, form: CodeForm) -> HttpResponse:
        next_page = self.pending_session_data["next"]
        device = self.verify_code_and_return_factor(form, confirmed=True)
        if device is None:
            return self.form_invalid(form)
        _sign_in(self.request, self.user, by=SignInMethod.PASSWORD_AND_CODE)
        if not form.cleaned_data["code"].strip().isdecimal():
            warning = gettext(
                "That was a recovery code; %(number)s are left. `manage.py reset_second_factor` lets an operator set up "
                "a new authenticator app and new recovery codes."
            )
            messages.warning(self.request, warning % {"number": device.recovery_codes_left})
        return HttpResponseRedirect(next_page)


class SecondFactorSetUpStep(SecondFactorPageBase):
    """The sign-in page for an operator who has no second factor yet: sets up the authenticator app, shows recovery codes."""

    template_name = "admin/second_factor_set_up.html"
    title = _("Set up your second factor")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = _pending_user(request)
        if user and _has_second_factor(user):
            return redirect("admin:second-factor")
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **shown: Any) -> dict[str, Any]:
        device = self._device()
        key = device.key_in_base32
        image = segno.make(device.otpauth_url, error="m").svg_data_uri(scale=5, border=4, dark="#000", light="#fff")
        spaced = " ".join(key[start : start + 4] for start in range(0, len(key), 4))
        return super().get_context_data(**shown, key=spaced, image=image)

    def form_valid(self, form: CodeForm) -> HttpResponse:
        next_page = self.pending_session_data["next"]
        device = self.verify_code_and_return_factor(form, confirmed=False, pk=self._device().pk)
        if device is None:
            return self.form_invalid(form)
        codes = device.mark_confirmed_and_issue_codes()
        audit.record_second_factor_change(self.request, self.user, "operators.set_up_second_factor")
        _sign_in(self.request, self.user, by=SignInMethod.PASSWORD_AND_CODE)
        shown = {**admin.site.each_context(self.request), "title": gettext("Recovery codes"), "codes": codes}
        return render(self.request, "admin/recovery_codes.html", {**shown, "next_page": next_page})

    def _device(self) -> SecondFactor:
        """Return the unconfirmed second factor that the operator is setting up in this sign-in; create it if there is none.

        A new one replaces the unconfirmed one of an earlier sign-in.
        """
        found = SecondFactor.objects.filter(
            user=self.user, confirmed=False, pk=self.pending_session_data.get("device")
        ).first()
        if found is None:
            found = SecondFactor.create_or_replace_unconfirmed(self.user)
            self.request.session[PENDING_SESSION_KEY] = {**self.pending_session_data, "device": str(found.pk)}
        return found


def _has_second_factor(user: User) -> bool:
    return SecondFactor.objects.filter(user=user, confirmed=True).exists()


def _pending_user(request: HttpRequest) -> User | None:
    """Return the operator who entered the right password in this browser in the last ten minutes, or None."""
    pending = request.session.get(PENDING_SESSION_KEY)
    if not pending or timezone.now().timestamp() - pending["at"] > PENDING_TTL.total_seconds():
        return None
    return User.objects.filter(pk=pending["user"], is_active=True, is_staff=True).first()


def _sign_in(request: HttpRequest, user: User, *, by: SignInMethod) -> None:
    failures = audit.failed_sign_in_count_of_operator_since(user, user.last_login)
    request.session.pop(PENDING_SESSION_KEY, None)
    sign_in_user(request, user, by=by, authenticated_at=timezone.now())
    audit.audit_and_count_operator_sign_in(request, user, by=by.value)
    if failures:
        messages.warning(
            request,
            gettext(
                "Failed attempts to sign in with your name since your last sign-in: %(number)s. "
                "If they were not yours, somebody may be guessing your password."
            )
            % {"number": failures},
        )
