"""Models of post groups with their targets, of stored plans, and of the composer."""

from __future__ import annotations

from posts.models.composer import ComposerDraft, PublishingPreference
from posts.models.plans import StoredPlan
from posts.models.posts import PostGroup, PostTarget

__all__ = ["ComposerDraft", "PostGroup", "PostTarget", "PublishingPreference", "StoredPlan"]
