"""Base classes of the read-only pages of the Django admin, which run no COUNT(*) and do not show columns with secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from config.api.models import IdempotencyRecord
from config.db.encryption import EncryptedJSONField
from config.pages.admin_actions import PRESERVED_FILTERS, ChangePermissionActionsAdmin
from config.pages.admin_search import DIGEST, ExactSearchAdmin, search_word_kind

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


class ChangeListWithoutCount(ChangeList):
    """The change list of the Django admin without a row count, because COUNT(*) reads the whole table."""

    newer_page = older_page = ""

    def get_results(self, request: HttpRequest) -> None:
        page = max(self.page_num, 1)
        first = (page - 1) * self.list_per_page
        rows = list(self.queryset[first : first + self.list_per_page + 1])
        self.result_list = rows[: self.list_per_page]
        self.result_count = self.full_result_count = len(self.result_list)
        self.show_full_result_count = self.can_show_all = self.multi_page = False
        self.show_admin_actions = bool(rows)
        self.paginator = self.model_admin.get_paginator(request, self.result_list, self.list_per_page)
        if page > 1:
            self.newer_page = self.get_query_string({PAGE_VAR: page - 1})
        if len(rows) > self.list_per_page:
            self.older_page = self.get_query_string({PAGE_VAR: page + 1})


class ReadOnlyAdmin(ExactSearchAdmin, ChangePermissionActionsAdmin):
    """The base class of the apps' read-only admin tables: newest rows first, without sorting by columns and a row count.

    The detail page shows all columns except encrypted ones and those in `secrets`, the actions, and links to related lists.
    The names of tables and columns are not translated, because operators compare them with the API.
    """

    secrets: ClassVar[tuple[str, ...]] = ()
    extra_fields: ClassVar[tuple[str, ...]] = ()  # methods shown below the columns on the detail page

    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # each is a COUNT(*)
    sortable_by = ()
    change_list_template = "admin/uncounted_list.html"
    change_form_template = "admin/row.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ChangeListWithoutCount

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows for a page of the Django admin, without loading their secret columns from the database."""
        return super().get_queryset(request).defer(*self._hidden())

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        hidden = self._hidden()
        shown = [field.name for field in self.opts.concrete_fields if field.name not in hidden]
        return sorted(shown, key=lambda name: name != self.opts.pk.name) + list(self.extra_fields)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.get_fields(request, obj)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Return whether an admin URL may filter by this column; a filter by a secret column could reveal its values."""
        return lookup.partition("__")[0] not in self._hidden() and super().lookup_allowed(lookup, value, request)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> HttpResponse:
        row = kwargs.get("obj")
        context["related_lists"] = self._related_lists(row) if row else []
        context["row_actions"] = self.get_action_choices(request, default_choices=[])
        context["changelist_filters"] = request.GET.get(PRESERVED_FILTERS, "")
        return super().render_change_form(request, context, *args, **kwargs)

    def _hidden(self) -> set[str]:
        sealed = {field.name for field in self.opts.concrete_fields if isinstance(field, EncryptedJSONField)}
        return sealed | set(self.secrets)

    def _related_lists(self, row: Any) -> list[tuple[str, str]]:
        """Return links from a row's admin page to other models' admin lists that can be searched for its id or trace id."""
        words = [str(row.pk), getattr(row, "trace_id", "")]
        found = []
        for model, other in self.admin_site._registry.items():
            if model is self.model or not isinstance(other, ExactSearchAdmin):
                continue
            if word := next((each for each in words if search_word_kind(each) in other.found_by), ""):
                path = reverse(f"admin:{other.opts.app_label}_{other.opts.model_name}_changelist")
                found.append((str(other.opts.verbose_name_plural), f"{path}?{urlencode({'q': word})}"))
        return found


class WaitingJobFilter(admin.SimpleListFilter):
    """The filter of Django admin lists of jobs: those that wait, those due now, those that a worker processes."""

    title = _("waiting")
    parameter_name = "waiting"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, StrOrPromise]]:
        return [("yes", _("for a worker, now or later")), ("due", _("and due")), ("held", _("and held by a worker"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        now = timezone.now()
        asked = {
            "yes": Q(due_at__isnull=False),
            "due": Q(due_at__lte=now),
            "held": Q(due_at__isnull=False, lease_until__gt=now),
        }
        return queryset.filter(asked.get(self.value() or "", Q()))


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(ReadOnlyAdmin):
    list_display = ("id", "operation", "status", "resource_id", "created_at", "expires_at")
    ordering = ("-expires_at",)
    indexed_lookups = {DIGEST: "pk"}
    secrets = ("body", "fingerprint")
