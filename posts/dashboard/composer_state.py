"""The state of one request to the composer page: what was entered, its validation, and what the templates show."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from django.http import HttpResponse, QueryDict
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from billing.selectors import workspace_spend_cap_status
from config.api.errors import ApiError
from config.pages.sentences import error_sentences
from posts import selectors, services
from posts.content import PostInput
from posts.dashboard import composer_draft_forms
from posts.dashboard.account_tabs import AccountTab, account_tab
from posts.dashboard.account_times import AccountTimeForms
from posts.dashboard.checked_content import TargetCheckAndPreview, prepare_checks_for_display
from posts.dashboard.chosen_slot import ChosenSlot
from posts.dashboard.composer_content import ComposerContent, capabilities_of_account
from posts.dashboard.composer_focus import TEXT, ComposerFocus
from posts.dashboard.composer_media import ComposerMedia
from posts.dashboard.forms import ScheduleForm
from posts.dashboard.inputs import validated_page_input
from posts.dashboard.insertable_texts import InsertableTexts
from posts.dashboard.issue_repairs import find_repair
from posts.dashboard.people_to_mention import PeopleToMention
from posts.dashboard.refusal_forecast import sentence_if_caps_refuse
from posts.dashboard.submit_buttons import SubmitButton, submit_buttons
from posts.dashboard.thread_fields import apply_thread_button
from posts.models import ComposerDraft, PostGroup
from posts.serializers.requests import ValidatePostSerializer
from posts.services import composer_drafts
from posts.services.preferences import skips_undo_delay
from posts.services.review import CONFIRMABLE_GROUP_STATUSES
from posts.validation import Validation
from workspaces.workspace_page import WorkspacePage

AccountChoice = tuple[ConnectedAccount, str, bool]  # the account, its platform's label, whether it is chosen


@dataclass
class Composer:
    """The data from which the composer page is rendered: content, accounts, media, publishing time and error messages.

    `group` is the post being edited, or None for a new post. `sent` is the form that was submitted now or saved as a draft.
    `key` identifies the draft of this page, which may not be saved yet.
    """

    page: WorkspacePage
    group: PostGroup | None
    key: str
    draft: ComposerDraft | None
    sent: QueryDict | None
    accounts: list[ConnectedAccount]
    content: ComposerContent
    media: ComposerMedia
    schedule: ScheduleForm
    account_times: AccountTimeForms
    slot: ChosenSlot | None = None
    problems: list[str] = field(default_factory=list)
    focus: ComposerFocus = field(default_factory=ComposerFocus)

    @classmethod
    def from_request(cls, page: WorkspacePage, group: PostGroup | None) -> Composer:
        """Build the composer's state from the submitted form, or else from the draft in the URL, or else from the post group.

        Without any of them, the URL may name what is filled in: the fields `text`, `account`, `media`, `when` and `slot`.
        """
        key = composer_draft_forms.draft_key_of_request_or_new_key(page)
        draft = composer_draft_forms.find_composer_draft(page, key)
        sent: QueryDict | None = page.request.POST if page.request.method == "POST" else None
        if sent is None and draft:
            sent = composer_draft_forms.form_data_of_draft(draft)
        fields = page.request.GET if sent is None and group is None else sent
        before = ComposerContent.from_group(group) if group else ComposerContent()
        chosen = before.account_ids if fields is None else fields.getlist("account")
        workspace_id = page.workspace.id
        accounts = selectors.accounts_selectable_for_post(caller=page.caller, workspace_id=workspace_id, chosen=chosen)
        times = AccountTimeForms.from_form_or_post(sent, group, chosen, page.zone)
        content = before if fields is None else ComposerContent.from_form(fields, accounts, times)
        at = _time_to_come(group) if group else _requested_time(page)
        schedule = ScheduleForm(sent, zone=page.zone, at=at)
        media = ComposerMedia(page, content)
        slot = None if group else ChosenSlot.from_fields_or_none(fields, accounts, submitted=sent is not None)
        composer = cls(page, group, key, draft, sent, accounts, content, media, schedule, times, slot)
        if sent is None and "fix" in page.request.GET:  # see copy_failed_targets_to_draft_post
            composer.focus_text_to_fix()
        return composer

    def repair_issue(self, name: str) -> None:
        """Repair a validation issue in the composer's state as the clicked button says; do nothing if the issue is gone."""
        found = find_repair(self.validation.targets, self.media.attached_assets, name) if self.validation else None
        if found is None:
            return
        self.focus, repair = found
        repair.change(self.media)
        self.__dict__.pop("validation", None)

    def focus_field(self, name: str) -> None:
        """Open the tab and focus the field that the clicked button of a validation issue names."""
        self.focus = ComposerFocus.of_button(name)

    def apply_thread_button(self, change: str, account_id: str, place: str) -> None:
        """Change the thread of an account in this Composer as the clicked button says, and open the account's tab."""
        account = next((each for each in self.accounts if each.id == account_id), None)
        target = next((each for each in self.content.targets if each["connected_account_id"] == account_id), None)
        if account and target:
            capabilities = capabilities_of_account(account)
            thread_focus = apply_thread_button(capabilities, target, self.content.text, change, place)
            self.focus = ComposerFocus(account_id, thread=thread_focus)

    def append_text_in_open_tab(self, text: str) -> None:
        """Append a text, such as a snippet, to the text in the open tab of the composer."""
        target = next(
            (each for each in self.content.targets if each["connected_account_id"] == self.open_tab_account_id), None
        )
        self.content.append_text(target, text)
        self.focus = ComposerFocus(self.open_tab_account_id, TEXT)

    @cached_property
    def insertable_texts(self) -> InsertableTexts:
        return InsertableTexts(self.page)

    @cached_property
    def people_to_mention(self) -> PeopleToMention:
        chosen = [account for account in self.accounts if account.id in self.content.account_ids]
        return PeopleToMention(self.page, self.accounts, chosen, self.open_tab_account_id)

    def save_draft(self) -> None:
        """Save the submitted form of this Composer as its draft, so that nothing is lost when the page is left."""
        saved = composer_draft_forms.save_form_as_draft_or_none(self.page, self.group, self.key)
        if saved:
            self.draft, self.key = saved.draft, saved.draft.key

    def delete_draft_of_saved_post(self) -> None:
        """Delete the draft of this Composer after its content was saved as a post."""
        if self.draft:
            composer_drafts.delete_draft(caller=self.page.caller, workspace_id=self.page.workspace.id, key=self.key)

    @cached_property
    def validation(self) -> Validation | None:
        """Return the validation of the composer's content; None if no account is chosen, or after an API error."""
        if not self.content.targets:
            return None
        try:
            data = validated_page_input(
                ValidatePostSerializer, {**self.content.request_fields, "workspace_id": self.page.workspace.id}
            )
            return services.validate_post(caller=self.page.caller, post=PostInput.from_request(data), group=self.group)
        except ApiError as error:
            self.problems += error_sentences(error)
            return None

    def render(self, template: str = "posts/compose.html", *, status: int = 200) -> HttpResponse:
        """Render the composer page, or one of the partial templates that replace parts of it."""
        validation = self.validation  # must be read first: it may add problems
        self.problems = list(dict.fromkeys(self.problems))
        return self.page.render(
            template,
            status=status,
            composer=self,
            checks=self.checked_targets,
            errors=len(validation.errors) if validation else 0,
            cost_cents=validation.estimated_cost_cents if validation else 0,
            spend=workspace_spend_cap_status(workspace_id=self.page.workspace.id, at=timezone.now()),
            refusal=self._sentence_if_caps_refuse(validation) if validation else None,
        )

    def _sentence_if_caps_refuse(self, validation: Validation) -> str | None:
        """Return why spend caps or payment would refuse the composed post; None if the post must be approved first."""
        if not self.page.may_publish_without_approval:
            return None
        return sentence_if_caps_refuse(
            validation,
            workspace_id=self.page.workspace.id,
            group=self.group,
            due=self.schedule.instants[0] if self.schedule.instants else timezone.now(),
            own_times=self.account_times.entered_times,
        )

    @property
    def account_choices(self) -> list[AccountChoice]:
        """Return the accounts offered in the composer, each with its platform's label and whether it is chosen."""
        chosen = set(self.content.account_ids)
        return [(account, get_adapter(account.platform).label, account.id in chosen) for account in self.accounts]

    @property
    def folded_sandbox_choices(self) -> list[AccountChoice]:
        """Return the sandbox accounts, which the composer folds away once there is a real account; otherwise none."""
        sandbox = [choice for choice in self.account_choices if choice[0].sandbox]
        return sandbox if len(sandbox) < len(self.accounts) else []

    @property
    def sandbox_is_unfolded(self) -> bool:
        return any(chosen or each.id == self.focus.account_choice_id for each, _, chosen in self.folded_sandbox_choices)

    @property
    def entered_time(self) -> str:
        """Return the publishing time that is filled in on this Composer, perhaps an invalid one; "" without one."""
        return str(self.schedule["when"].value() or "")

    @property
    def buttons_have_outdated_time(self) -> bool:
        """Return whether the time entered in the composer differs from the one for which its buttons were made."""
        return self.sent is not None and self.sent.get("shown_when", "") != self.entered_time

    @property
    def submit_buttons(self) -> list[SubmitButton]:
        before = self.group.scheduled_at if self.group else None
        moved = before is None or [before.replace(second=0, microsecond=0)] != self.schedule.instants
        return submit_buttons(
            self.group.status if self.group else "",
            self.schedule.local_time,
            moved=moved,
            needs_approval=not self.page.may_publish_without_approval,
            may_approve=self.page.may_manage,
        )

    @cached_property
    def skips_undo_delay(self) -> bool:
        return skips_undo_delay(caller=self.page.caller)

    @property
    def content_version(self) -> str:
        """Return the version of the edited post that the composer's user saw, so no newer one is overwritten unseen."""
        sent = self.sent.get("content_version", "") if self.sent else ""
        return sent or (str(self.group.content_version) if self.group else "")

    @property
    def post_was_changed_since_draft_began(self) -> bool:
        """Return whether somebody has changed the edited post since the draft of this Composer was begun."""
        return self.group is not None and self.content_version != str(self.group.content_version)

    def focus_text_to_fix(self) -> None:
        """Focus the composer's field with the text of the failed post: an account's own text, or the shared one."""
        own_texts = (each["connected_account_id"] for each in self.content.targets if each.get("text") is not None)
        self.focus = ComposerFocus(next(own_texts, ""), TEXT)

    @property
    def draft_saved_at_in_words(self) -> str:
        """Return in words when the draft of this Composer was saved; an empty string if it was not saved yet."""
        return composer_draft_forms.draft_saved_at_in_words(self.page, self.draft) if self.draft else ""

    @property
    def composer_drafts_to_continue(self) -> list[composer_draft_forms.OfferedDraft]:
        """Return the drafts that this Composer offers to continue; none if it shows a draft or a submitted form."""
        return composer_draft_forms.composer_drafts_to_continue(self.page, self.group) if self.sent is None else []

    @property
    def fields_of_unchosen_accounts(self) -> list[tuple[str, str]]:
        """Return the composer fields of accounts that are not chosen now: choosing them again restores text and options."""
        ids = {account.id for account in self.accounts} - set(self.content.account_ids)
        prefixes = tuple(
            f"{start}{account_id}{end}"
            for account_id in ids
            for start, end in (("own-", ""), ("text-", ""), ("thread-", ""), ("", "-"), ("time-", "-"))
        )
        if self.sent is None or not prefixes:
            return []
        return [(name, value) for name, values in self.sent.lists() if name.startswith(prefixes) for value in values if value]

    @cached_property
    def account_tabs(self) -> list[AccountTab]:
        accounts = {account.id: account for account in self.accounts}
        return [account_tab(self, target, accounts[target["connected_account_id"]]) for target in self.content.targets]

    @property
    def open_tab_account_id(self) -> str:
        """Return the id of the account whose tab of the composer is open; an empty string for the tab of all accounts."""
        sent = self.sent.get("tab", "") if self.sent else ""
        asked = self.focus.account_id if self.focus.opens_tab else sent
        return asked if asked in self.content.account_ids else ""

    @cached_property
    def checked_targets(self) -> list[TargetCheckAndPreview]:
        return prepare_checks_for_display(self.validation.targets, self.media.attached_assets) if self.validation else []

    @property
    def simulates_real_accounts(self) -> bool:
        """Return whether to warn in the composer that the post is only simulated, although real accounts are chosen."""
        simulated = self.group is not None and self.group.sandbox
        real = {account.id for account in self.accounts if not account.sandbox}
        return simulated and not real.isdisjoint(self.content.account_ids)


def _time_to_come(group: PostGroup) -> datetime | None:
    """Return the planned time of the post in the composer; None if it is past and the post is a draft or awaits approval."""
    at = group.scheduled_at
    return None if at and at < timezone.now() and group.status in CONFIRMABLE_GROUP_STATUSES else at


def _requested_time(page: WorkspacePage) -> datetime | None:
    """Return the publishing time with which a link from the calendar opens the composer, or None."""
    form = ScheduleForm({"when": page.request.GET.get("when", ""), "which": "0"}, zone=page.zone)
    return form.chosen_time_or_none if form.is_valid() else None
