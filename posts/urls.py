"""URL routes of the posts API and of the dashboard's post pages."""

from __future__ import annotations

from django.urls import path

from posts.calendar_feed_views import CalendarFeedViewSet, serve_calendar
from posts.dashboard import (
    approvals,
    calendar,
    calendar_feeds,
    calendar_moves,
    chosen_posts,
    composer_views,
    link_cards,
    listing,
    missed,
    post,
    publishing_preference,
    saved_filters,
    series,
    undo,
    undo_of_several,
)
from posts.post_files.page import apply_file, export_or_compare_file, export_posts
from posts.queue_pages import commit_queue_change, show_queue_or_preview_change
from posts.queue_views import QueueViewSet
from posts.series_views import SeriesViewSet
from posts.slot_views import SlotViewSet
from posts.stored_plan_views import PlanViewSet
from posts.views import PostViewSet

WORKSPACE_PATH = "dashboard/workspaces/<str:workspace_id>"

urlpatterns = [
    path("posts", PostViewSet.as_view({"get": "list_posts_of_day", "post": "create"})),
    path("posts/batch", PostViewSet.as_view({"post": "create_batch"})),
    path("posts/queue", QueueViewSet.as_view({"post": "update_queue"})),
    path("posts/retry-missed", QueueViewSet.as_view({"post": "retry_missed"})),
    path("posts/search", PostViewSet.as_view({"get": "search"})),
    path("posts/validate", PostViewSet.as_view({"post": "validate"})),
    path(
        "posts/<str:post_group_id>", PostViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "cancel"})
    ),
    path("posts/<str:post_group_id>/retry", PostViewSet.as_view({"post": "retry"})),
    path("posts/<str:post_group_id>/confirm", PostViewSet.as_view({"post": "confirm"})),
    path("posts/<str:post_group_id>/reject", PostViewSet.as_view({"post": "reject"})),
    path("posts/<str:post_group_id>/resolve", PostViewSet.as_view({"post": "resolve_unconfirmed_target"})),
    path("series", SeriesViewSet.as_view({"get": "list_series", "post": "create"})),
    path("series/<str:series_id>", SeriesViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "end"})),
    path("series/<str:series_id>/skip", SeriesViewSet.as_view({"post": "skip_occurrence"})),
    path("plans", PlanViewSet.as_view({"post": "create"})),
    path("plans/<str:plan_id>", PlanViewSet.as_view({"get": "retrieve"})),
    path("plans/<str:plan_id>/commit", PlanViewSet.as_view({"post": "commit"})),
    path("accounts/<str:account_id>/slots/next", SlotViewSet.as_view({"get": "list_next_slots"})),
    path(
        "workspaces/<str:workspace_id>/calendar-feeds", CalendarFeedViewSet.as_view({"get": "list_feeds", "post": "create"})
    ),
    path("workspaces/<str:workspace_id>/calendar-feeds/<str:feed_id>", CalendarFeedViewSet.as_view({"delete": "destroy"})),
    path("calendar/<str:token>.ics", serve_calendar),
    path(f"{WORKSPACE_PATH}/calendar-feeds", calendar_feeds.list_or_create_calendar_feeds, name="calendar-feeds"),
    path(f"{WORKSPACE_PATH}/calendar-feeds/<str:feed_id>/delete", calendar_feeds.delete_feed, name="calendar-feed-delete"),
    path(f"{WORKSPACE_PATH}/calendar", calendar.show_calendar, name="calendar"),
    path(f"{WORKSPACE_PATH}/files", export_or_compare_file, name="post-files"),
    path(f"{WORKSPACE_PATH}/files/apply", apply_file, name="post-files-apply"),
    path(f"{WORKSPACE_PATH}/files/export", export_posts, name="post-files-export"),
    path(f"{WORKSPACE_PATH}/calendar/move/<str:post_group_id>", calendar_moves.move_entry, name="calendar-move"),
    path(f"{WORKSPACE_PATH}/compose", composer_views.compose_new_post, name="compose"),
    path(f"{WORKSPACE_PATH}/compose/link-card", link_cards.show_link_card, name="link-card"),
    path(f"{WORKSPACE_PATH}/compose/discard", undo.discard_draft_and_offer_undo, name="compose-discard"),
    path(
        f"{WORKSPACE_PATH}/compose/preference",
        publishing_preference.show_or_save_undo_delay_preference,
        name="publishing-preference",
    ),
    path(f"{WORKSPACE_PATH}/undo", undo.undo_last_action, name="post-undo"),
    path(f"{WORKSPACE_PATH}/approvals", approvals.list_posts_awaiting_approval, name="approvals"),
    path(f"{WORKSPACE_PATH}/posts", listing.list_posts, name="posts"),
    path(f"{WORKSPACE_PATH}/filters", saved_filters.save_current_filter, name="filter-save"),
    path(f"{WORKSPACE_PATH}/filters/<int:filter_id>/delete", saved_filters.delete_filter, name="filter-delete"),
    path(f"{WORKSPACE_PATH}/posts/chosen", chosen_posts.preview_or_do_chosen_action, name="posts-chosen"),
    path(f"{WORKSPACE_PATH}/posts/chosen/undo", undo_of_several.undo_last_action_on_several_posts, name="posts-undo"),
    path(f"{WORKSPACE_PATH}/posts/<str:post_group_id>", post.show_post, name="post"),
    path(f"{WORKSPACE_PATH}/posts/<str:post_group_id>/edit", composer_views.edit_post, name="post-edit"),
    path(f"{WORKSPACE_PATH}/posts/<str:post_group_id>/cancel", post.cancel_post, name="post-cancel"),
    path(
        f"{WORKSPACE_PATH}/posts/<str:post_group_id>/retry",
        post.retry_failed_and_selected_unconfirmed_targets,
        name="post-retry",
    ),
    path(f"{WORKSPACE_PATH}/posts/<str:post_group_id>/fix", post.copy_failed_targets_to_draft_post, name="post-fix"),
    path(f"{WORKSPACE_PATH}/posts/<str:post_group_id>/resolve", post.resolve_unconfirmed_target, name="post-resolve"),
    path(f"{WORKSPACE_PATH}/posts/<str:post_group_id>/reschedule", post.reschedule_post, name="post-reschedule"),
    path(f"{WORKSPACE_PATH}/posts/<str:post_group_id>/duplicate", post.copy_post_to_new_draft, name="post-duplicate"),
    path(f"{WORKSPACE_PATH}/posts/<str:post_group_id>/confirm", approvals.approve_post, name="post-confirm"),
    path(f"{WORKSPACE_PATH}/posts/<str:post_group_id>/reject", approvals.reject_post, name="post-reject"),
    path(f"{WORKSPACE_PATH}/accounts/<str:account_id>/queue", show_queue_or_preview_change, name="account-queue"),
    path(
        f"{WORKSPACE_PATH}/accounts/<str:account_id>/queue/<str:plan_id>",
        commit_queue_change,
        name="account-queue-confirm",
    ),
    path(f"{WORKSPACE_PATH}/missed", missed.list_or_send_missed_posts, name="missed"),
    path(f"{WORKSPACE_PATH}/series", series.list_series, name="series"),
    path(f"{WORKSPACE_PATH}/series/new", series.preview_or_create_series, name="series-new"),
    path(f"{WORKSPACE_PATH}/series/<str:series_id>", series.show_series, name="series-one"),
    path(f"{WORKSPACE_PATH}/series/<str:series_id>/edit", series.preview_or_update_series, name="series-edit"),
    path(f"{WORKSPACE_PATH}/series/<str:series_id>/status", series.pause_or_resume_series, name="series-status"),
    path(f"{WORKSPACE_PATH}/series/<str:series_id>/end", series.end_series_and_cancel_posts, name="series-end"),
    path(f"{WORKSPACE_PATH}/series/<str:series_id>/skip", series.skip_post_of_series, name="series-skip"),
]
