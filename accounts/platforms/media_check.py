"""Validation of images, videos and GIFs against a platform's MediaRules, for uploads, posts and dashboard pages.

Each issue has a repair hint: convert_media, remove_media, add_media or replace_text. A property of an asset that was not
read, such as its size in pixels or its duration, causes no issue.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.utils.text import get_text_list

from accounts.platforms.counting import code_point_length, cut_to_limit
from accounts.platforms.issues import Issue, RepairHint, issue_with_hint, number_with_noun
from accounts.platforms.types import FileLimits, ImageRules, MediaInfo, MediaKind, MediaRules, VideoRules

_NOUNS: dict[MediaKind, str] = {"image": "image", "gif": "GIF", "video": "video", "document": "document"}
_FORMATS = {
    "image/jpeg": "JPEG",
    "image/png": "PNG",
    "image/webp": "WebP",
    "image/gif": "GIF",
    "video/mp4": "MP4",
    "video/quicktime": "MOV",
    "video/webm": "WebM",
    "application/pdf": "PDF",
}


def asset_issues(platform: str, rules: MediaRules, asset: MediaInfo, field: str) -> list[Issue]:
    """Return the validation issues of one media file for a platform; `field` is the file's path, such as `media[0]`."""
    own = _rules_by_kind(rules)[_counted_as(rules, asset)]
    if own is None:
        noun = _NOUNS[asset.kind]
        message = rules.none_because or f"{platform} takes no {noun}s."
        hint = _to_video(rules, asset, field) or RepairHint("remove_media", field, f"Leave the {noun} out.")
        facts = {"kind": asset.kind, "because": rules.none_because}
        return [Issue("MEDIA_KIND_NOT_TAKEN", "error", field, message, repair_hint=hint, facts=facts)]
    issues = [*_type_issues(platform, rules, own, asset, field), *_size_issues(platform, own, asset, field)]
    if isinstance(own, ImageRules) and asset.width and asset.height:
        issues += _pixel_issues(platform, own, asset.width, asset.height, field)
        issues += _shape_issues(platform, own, asset.width, asset.height, field)
    if isinstance(own, VideoRules):
        issues += _duration_issues(platform, own, asset, field)
    return issues


def media_list_and_alt_text_issues(
    platform: str, rules: MediaRules, assets: Sequence[MediaInfo], field: str = "media"
) -> list[Issue]:
    """Return the validation issues of all media of a post together, such as too many images, and of their alt texts.

    `field` is the path of the list.
    """
    if not assets:
        return [_media_required(platform, rules, field)] if rules.required else []
    return [
        *_mixture_issues(platform, rules, assets, field),
        *_count_issues(platform, rules, assets, field),
        *_total_issues(platform, rules, assets, field),
        *(
            issue
            for index, asset in enumerate(assets)
            for issue in _alt_text_issues(platform, rules, asset, f"{field}[{index}].alt_text")
        ),
    ]


def _counted_as(rules: MediaRules, asset: MediaInfo) -> MediaKind:
    """Return the kind of media whose rules apply to an asset: `image` for a GIF if the platform has no rules for GIFs."""
    return "image" if asset.kind == "gif" and rules.gifs is None else asset.kind


def _rules_by_kind(rules: MediaRules) -> dict[MediaKind, FileLimits | None]:
    return {"image": rules.images, "gif": rules.gifs, "video": rules.videos, "document": rules.documents}


def _type_issues(platform: str, rules: MediaRules, own: FileLimits, asset: MediaInfo, field: str) -> list[Issue]:
    if asset.mime_type in own.mime_types:
        return []
    taken = [_format(mime_type) for mime_type in own.mime_types]
    message = f"{platform} takes no {_format(asset.mime_type)} files, but {get_text_list(taken, 'and')}."
    hint = _to_video(rules, asset, field) or RepairHint("convert_media", field, f"Convert it to {taken[0]}.")
    facts = {"format": _format(asset.mime_type), "types": taken, "max_bytes": own.max_bytes}
    return [Issue("MEDIA_TYPE_NOT_TAKEN", "error", field, message, repair_hint=hint, facts=facts)]


def _to_video(rules: MediaRules, asset: MediaInfo, field: str) -> RepairHint | None:
    """Return the media check's hint to convert a GIF into a video, because the platform would not show the GIF moving."""
    if asset.kind != "gif" or not rules.videos:
        return None
    wanted = _format(rules.videos.mime_types[0])
    return RepairHint("convert_media", field, f"Convert it to {wanted}, so that it keeps moving.")


def _size_issues(platform: str, own: FileLimits, asset: MediaInfo, field: str) -> list[Issue]:
    if asset.size_bytes <= own.max_bytes:
        return []
    message = f"The file has {asset.size_bytes:,} bytes; {platform} takes {own.max_bytes:,}."
    facts = {"bytes": asset.size_bytes, "limit": own.max_bytes, "max_bytes": own.max_bytes}
    return [_convert("MEDIA_TOO_LARGE", field, message, f"Compress it to {own.max_bytes:,} bytes or less.", **facts)]


def _pixel_issues(platform: str, own: ImageRules, width: int, height: int, field: str) -> list[Issue]:
    """Check an image's pixels: return the validation issue if they are too many, or width and height are too large.

    Its hint has a size that fits both limits: all pixels, and width plus height.
    """
    pixels, sides = width * height, width + height
    over: list[tuple[float, str]] = []
    if own.max_pixels and pixels > own.max_pixels:
        message = f"The image has {pixels:,} pixels; {platform} takes {own.max_pixels:,}."
        over.append((math.sqrt(own.max_pixels / pixels), message))
    if own.max_side_sum and sides > own.max_side_sum:
        message = f"Width and height come to {sides:,} pixels together; {platform} takes {own.max_side_sum:,}."
        over.append((own.max_side_sum / sides, message))
    if not over:
        return []
    factor, message = min(over)
    width, height = max(1, int(width * factor)), max(1, int(height * factor))
    size = f"{width:,} × {height:,} pixels"
    facts = {"width": width, "height": height, "max_bytes": own.max_bytes}
    return [_convert("MEDIA_TOO_MANY_PIXELS", field, message, f"Scale it down to {size}.", **facts)]


def _shape_issues(platform: str, own: ImageRules, width: int, height: int, field: str) -> list[Issue]:
    ratio = width / height
    if own.max_ratio is not None and ratio > own.max_ratio:
        wanted, limit, width = own.max_ratio, f"at most {own.max_ratio:g}", max(1, int(height * own.max_ratio))
    elif own.min_ratio is not None and ratio < own.min_ratio:
        wanted, limit, height = own.min_ratio, f"at least {own.min_ratio:g}", max(1, int(width / own.min_ratio))
    else:
        return []
    message = f"The image is {ratio:.4g} times as wide as it is high; {platform} takes {limit}."
    size, shape = f"{width:,} × {height:,} pixels", "wide" if limit.startswith("at most") else "high"
    return [
        _convert(
            "MEDIA_SHAPE",
            field,
            message,
            f"Crop it to {size}, or add borders.",
            width=width,
            height=height,
            shape=shape,
            ratio=wanted,
        )
    ]


def _duration_issues(platform: str, own: VideoRules, asset: MediaInfo, field: str) -> list[Issue]:
    if asset.duration_ms is None:
        return []
    lasts, most, least = f"{asset.duration_ms / 1000:.10g} seconds", own.max_duration_seconds, own.min_duration_seconds
    if most is not None and asset.duration_ms > most * 1000:
        message = f"The video lasts {lasts}; {platform} takes {_in_words(most)} at the most."
        return [_convert("MEDIA_TOO_LONG", field, message, f"Cut it to {_in_words(most)}.", seconds=most)]
    if least is not None and asset.duration_ms < least * 1000:
        message = f"The video lasts {lasts}; {platform} takes {_in_words(least)} at the least."
        advice = f"Make it {_in_words(least)} long or longer."
        return [_convert("MEDIA_TOO_SHORT", field, message, advice, seconds=least)]
    return []


def _media_required(platform: str, rules: MediaRules, field: str) -> Issue:
    kinds = [kind for kind, own in _rules_by_kind(rules).items() if own and kind != "gif"]
    taken = [f"{'an' if kind == 'image' else 'a'} {_NOUNS[kind]}" for kind in kinds]
    message = f"{platform} takes no post of text alone."
    allowed = " or ".join(taken)
    return issue_with_hint("MEDIA_REQUIRED", field, message, "add_media", f"Attach {allowed}.", kinds=kinds)


def _mixture_issues(platform: str, rules: MediaRules, assets: Sequence[MediaInfo], field: str) -> list[Issue]:
    taken = _rules_by_kind(rules)
    places: dict[MediaKind, list[int]] = {}
    for place, kind in enumerate(_counted_as(rules, asset) for asset in assets):
        if taken[kind]:
            places.setdefault(kind, []).append(place)
    kinds = [*places]
    if rules.mixed or len(kinds) < 2:
        return []
    message = f"{platform} takes media of one kind in a post, not {' and '.join(f'{_NOUNS[kind]}s' for kind in kinds)}."
    explanation = f"Keep the {_NOUNS[kinds[0]]}s only, or make a post of each kind."
    return [issue_with_hint("MEDIA_MIXED", field, message, "remove_media", explanation, kinds=kinds, places=places)]


def _count_issues(platform: str, rules: MediaRules, assets: Sequence[MediaInfo], field: str) -> list[Issue]:
    """Check the number of media: return the validation issues if there are too many of one kind or in total."""
    limits = {kind: own.max_count for kind, own in _rules_by_kind(rules).items() if own}
    kinds = [_counted_as(rules, asset) for asset in assets]
    issues = [
        _too_many(platform, field, kind, [place for place, each in enumerate(kinds) if each == kind], limits[kind])
        for kind, count in Counter(kinds).items()
        if kind in limits and count > limits[kind]
    ]
    if not issues and 0 < rules.max_count < len(assets):
        issues.append(_too_many(platform, field, None, range(len(assets)), rules.max_count))
    return issues


def _too_many(platform: str, field: str, kind: MediaKind | None, places: Sequence[int], limit: int) -> Issue:
    """Return the validation issue for a post with too many media, of one `kind` or in total; `places` are their indexes."""
    count, noun = len(places), _NOUNS[kind] if kind else "file"
    has, takes = number_with_noun(count, noun), number_with_noun(limit, noun)
    message = f"There are {has}; {platform} takes {takes} in a post."
    explanation = f"Keep {takes}, or make another post of the rest."
    facts: dict[str, Any] = {"kind": kind or "file", "count": count, "limit": limit, "surplus": places[limit:]}
    return issue_with_hint("MEDIA_TOO_MANY", field, message, "remove_media", explanation, **facts)


def _total_issues(platform: str, rules: MediaRules, assets: Sequence[MediaInfo], field: str) -> list[Issue]:
    total, most = sum(asset.size_bytes for asset in assets), rules.max_total_bytes
    if most is None or total <= most:
        return []
    message = f"The files have {total:,} bytes together; {platform} takes {most:,} in a post."
    conversion = f"Compress them to {most:,} bytes together, or leave some out."
    return [_convert("MEDIA_TOO_LARGE", field, message, conversion, bytes=total, limit=most, together=True)]


def _alt_text_issues(platform: str, rules: MediaRules, asset: MediaInfo, field: str) -> list[Issue]:
    """Check an alternative text of media: return the validation issue if it is missing or too long."""
    most, length = rules.alt_text_max_length, code_point_length(asset.alt_text)
    if most is None:
        return []
    if length > most:
        shorter = cut_to_limit(asset.alt_text, most, code_point_length)
        message = f"The alt text has {length:,} characters; {platform} takes {most:,}."
        explanation = f"The alt text cut at a word within {most:,} characters."
        facts: dict[str, Any] = {"subject": "The alt text", "length": length, "unit": "characters", "limit": most}
        return [issue_with_hint("ALT_TEXT_TOO_LONG", field, message, "replace_text", explanation, shorter, **facts)]
    if asset.kind in ("image", "gif") and not asset.alt_text.strip():
        message = "People who cannot see it are told nothing: there is no alt text."
        explanation = f"Say in a sentence what the {_NOUNS[asset.kind]} shows."
        return [issue_with_hint("ALT_TEXT_MISSING", field, message, "write_text", explanation, severity="warning")]
    return []


def _convert(code: str, field: str, message: str, conversion: str, **facts: Any) -> Issue:
    return issue_with_hint(code, field, message, "convert_media", conversion, **facts)


def _format(mime_type: str) -> str:
    return _FORMATS.get(mime_type, mime_type)


def _in_words(seconds: int) -> str:
    """Return a video's duration in words for the messages of the media check, such as 2 minutes and 20 seconds."""
    parts = ((seconds // 3600, "hour"), (seconds % 3600 // 60, "minute"), (seconds % 60, "second"))
    return " and ".join(number_with_noun(count, unit) for count, unit in parts if count)
