"""The dashboard page on which signed-in users choose the language of their pages and e-mails."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language_from_request, gettext, override
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from workspaces.models import User


class LanguageForm(forms.ModelForm):
    """The form of a user's language. Each language is named in itself, so that everybody finds their own."""

    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=[("", _("As the browser says")), *settings.LANGUAGES],
        help_text=_("Of all pages and of the e-mails to you. As the browser says, e-mails are in English."),
    )
    marks_needed = True

    class Meta:
        model = User
        fields = ("language",)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def show_or_save_language(request: HttpRequest) -> HttpResponse:
    """Dashboard page: show the signed-in user's language, and save another one on POST."""
    user = cast(User, request.user)
    sent: Any = request.POST if request.method == "POST" else None
    form = LanguageForm(sent, instance=user)
    if not form.is_valid():
        return render(request, "workspaces/language.html", {"form": form}, status=422 if sent is not None else 200)
    user.save(update_fields=["language", "updated_at"])
    with override(user.language or get_language_from_request(request)):
        messages.success(request, gettext("The language is saved."))
    return redirect("language")
