from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from accounts.platforms.issues import Issue
from accounts.platforms.media_check import asset_issues, media_list_and_alt_text_issues
from accounts.platforms.types import FileLimits, ImageRules, MediaInfo, MediaRules, VideoRules

IMAGES = ImageRules(("image/jpeg", "image/png"), max_bytes=1_000_000, max_count=4)
VIDEOS = VideoRules(("video/mp4", "video/webm"), max_bytes=50_000_000, max_duration_seconds=180, min_duration_seconds=3)
RULES = MediaRules(max_count=4, images=IMAGES, videos=VIDEOS)
IMAGE = MediaInfo("image", "image/jpeg", 1_000_000, width=1000, height=800, alt_text="A bench")
GIF = replace(IMAGE, kind="gif", mime_type="image/gif")
VIDEO = MediaInfo("video", "video/mp4", 50_000_000, width=1920, height=1080, duration_ms=180_000)
PDF = MediaInfo("document", "application/pdf", 1_000_000)


def with_images(**limits: Any) -> MediaRules:
    return replace(RULES, images=replace(IMAGES, **limits))


def alone(rules: MediaRules, asset: MediaInfo) -> list[tuple[str, str, str]]:
    """The issues of one asset: code, action and explanation of each."""
    return summaries(asset_issues("mosaic", rules, asset, "media[2]"), "media[2]")


def together(rules: MediaRules, *assets: MediaInfo) -> list[tuple[str, str, str]]:
    return summaries(media_list_and_alt_text_issues("mosaic", rules, assets), "media")


def summaries(issues: list[Issue], field: str) -> list[tuple[str, str, str]]:
    shown = []
    for issue in issues:
        assert issue.repair_hint
        assert (issue.severity, issue.field, issue.repair_hint.field) == ("error", field, field)
        assert (issue.auto_fixable, issue.repair_hint.value) == (False, None)
        shown.append((issue.code, issue.repair_hint.action, issue.repair_hint.explanation))
    return shown


@pytest.mark.parametrize(
    "asset", [IMAGE, VIDEO, replace(VIDEO, duration_ms=3000), replace(VIDEO, duration_ms=None), replace(IMAGE, width=None)]
)
def test_media_within_the_limits_or_without_data_have_no_issues(asset: MediaInfo) -> None:
    assert alone(with_images(max_pixels=800_000, max_side_sum=1800, min_ratio=1.25, max_ratio=1.25), asset) == []


@pytest.mark.parametrize(
    ("rules", "asset", "code", "conversion"),
    [
        (RULES, replace(IMAGE, mime_type="image/webp"), "MEDIA_TYPE_NOT_TAKEN", "Convert it to JPEG."),
        (RULES, replace(VIDEO, mime_type="video/quicktime"), "MEDIA_TYPE_NOT_TAKEN", "Convert it to MP4."),
        (RULES, GIF, "MEDIA_TYPE_NOT_TAKEN", "Convert it to MP4, so that it keeps moving."),
        (replace(RULES, videos=None), GIF, "MEDIA_TYPE_NOT_TAKEN", "Convert it to JPEG."),
        (replace(RULES, images=None), GIF, "MEDIA_KIND_NOT_TAKEN", "Convert it to MP4, so that it keeps moving."),
        (RULES, replace(IMAGE, size_bytes=1_000_001), "MEDIA_TOO_LARGE", "Compress it to 1,000,000 bytes or less."),
        (RULES, replace(VIDEO, size_bytes=50_000_001), "MEDIA_TOO_LARGE", "Compress it to 50,000,000 bytes or less."),
        (with_images(max_pixels=200_000), IMAGE, "MEDIA_TOO_MANY_PIXELS", "Scale it down to 500 × 400 pixels."),
        (with_images(max_side_sum=900), IMAGE, "MEDIA_TOO_MANY_PIXELS", "Scale it down to 500 × 400 pixels."),
        (
            with_images(max_pixels=200_000, max_side_sum=450),
            IMAGE,
            "MEDIA_TOO_MANY_PIXELS",
            "Scale it down to 250 × 200 pixels.",
        ),
        (with_images(max_ratio=1), IMAGE, "MEDIA_SHAPE", "Crop it to 800 × 800 pixels, or add borders."),
        (with_images(min_ratio=2), IMAGE, "MEDIA_SHAPE", "Crop it to 1,000 × 500 pixels, or add borders."),
        (RULES, replace(VIDEO, duration_ms=180_001), "MEDIA_TOO_LONG", "Cut it to 3 minutes."),
        (RULES, replace(VIDEO, duration_ms=2_999), "MEDIA_TOO_SHORT", "Make it 3 seconds long or longer."),
    ],
)
def test_the_issue_of_an_asset_has_a_hint_with_the_needed_conversion(
    rules: MediaRules, asset: MediaInfo, code: str, conversion: str
) -> None:
    assert alone(rules, asset) == [(code, "convert_media", conversion)]


@pytest.mark.parametrize(
    ("rules", "asset", "noun"),
    [
        (replace(RULES, videos=None), VIDEO, "video"),
        (replace(RULES, images=None), IMAGE, "image"),
        (replace(RULES, images=None, videos=None), GIF, "GIF"),
        (RULES, PDF, "document"),
    ],
)
def test_the_hint_for_a_kind_that_is_refused_removes_the_asset(rules: MediaRules, asset: MediaInfo, noun: str) -> None:
    assert alone(rules, replace(asset, size_bytes=10**9)) == [
        ("MEDIA_KIND_NOT_TAKEN", "remove_media", f"Leave the {noun} out.")
    ]


def test_a_gif_is_checked_by_its_own_rules_or_else_by_those_of_images() -> None:
    gifs = ImageRules(("image/gif",), max_bytes=15_000_000, max_count=1)
    as_image = with_images(mime_types=(*IMAGES.mime_types, "image/gif"))
    larger = replace(GIF, size_bytes=2_000_000)

    assert alone(replace(RULES, gifs=gifs), larger) == []
    assert alone(as_image, GIF) == []
    assert [code for code, _, _ in alone(as_image, larger)] == ["MEDIA_TOO_LARGE"]


def test_all_issues_of_an_asset_are_reported_together() -> None:
    rules = with_images(max_pixels=200_000, max_ratio=1)
    wrong = replace(IMAGE, mime_type="image/webp", size_bytes=2_000_000)

    assert [code for code, _, _ in alone(rules, wrong)] == [
        "MEDIA_TYPE_NOT_TAKEN",
        "MEDIA_TOO_LARGE",
        "MEDIA_TOO_MANY_PIXELS",
        "MEDIA_SHAPE",
    ]


@pytest.mark.parametrize(
    ("seconds", "spoken"),
    [(140, "2 minutes and 20 seconds"), (60, "1 minute"), (14_400, "4 hours"), (3601, "1 hour and 1 second")],
)
def test_durations_are_written_in_words(seconds: int, spoken: str) -> None:
    rules = replace(RULES, videos=replace(VIDEOS, max_duration_seconds=seconds))

    [issue] = asset_issues("mosaic", rules, replace(VIDEO, duration_ms=seconds * 1000 + 20), "media[0]")

    assert issue.message == f"The video lasts {seconds}.02 seconds; mosaic takes {spoken} at the most."


@pytest.mark.parametrize("conversion", [{"max_pixels": 333_333}, {"max_side_sum": 777}, {"max_ratio": 0.8}])
def test_the_suggested_size_fits(conversion: dict[str, float]) -> None:
    rules, asset = with_images(**conversion), replace(IMAGE, width=1237, height=911)
    [(_, _, explanation)] = alone(rules, asset)
    width, height = (int(word.replace(",", "")) for word in explanation.split() if word[0].isdigit())

    assert alone(rules, replace(asset, width=width, height=height)) == []


@pytest.mark.parametrize(
    ("rules", "assets"),
    [
        (RULES, [IMAGE] * 4),
        (RULES, [VIDEO]),
        (RULES, []),
        (replace(RULES, mixed=True), [VIDEO, IMAGE, IMAGE, IMAGE]),
        (replace(RULES, required=True), [IMAGE]),
        (replace(RULES, max_total_bytes=4_000_000), [IMAGE] * 4),
        (replace(RULES, max_count=0, images=None, videos=None), [IMAGE, VIDEO]),  # each is refused by itself
    ],
)
def test_an_album_within_the_limits_has_no_issues(rules: MediaRules, assets: list[MediaInfo]) -> None:
    assert together(rules, *assets) == []


@pytest.mark.parametrize(
    ("rules", "assets", "code", "repair"),
    [
        (RULES, [IMAGE] * 5, "MEDIA_TOO_MANY", "Keep 4 images, or make another post of the rest."),
        (RULES, [IMAGE] * 4 + [GIF], "MEDIA_TOO_MANY", "Keep 4 images, or make another post of the rest."),
        (RULES, [VIDEO] * 2, "MEDIA_TOO_MANY", "Keep 1 video, or make another post of the rest."),
        (
            replace(RULES, mixed=True),
            [VIDEO] + [IMAGE] * 4,
            "MEDIA_TOO_MANY",
            "Keep 4 files, or make another post of the rest.",
        ),
        (RULES, [IMAGE, VIDEO], "MEDIA_MIXED", "Keep the images only, or make a post of each kind."),
        (replace(RULES, gifs=IMAGES), [GIF, IMAGE], "MEDIA_MIXED", "Keep the GIFs only, or make a post of each kind."),
        (
            replace(RULES, documents=FileLimits(("application/pdf",), max_bytes=10**8)),
            [PDF, IMAGE],
            "MEDIA_MIXED",
            "Keep the documents only, or make a post of each kind.",
        ),
    ],
)
def test_the_issue_of_an_album_says_which_files_may_stay(
    rules: MediaRules, assets: list[MediaInfo], code: str, repair: str
) -> None:
    assert together(rules, *assets) == [(code, "remove_media", repair)]


def test_the_total_size_of_the_files_of_a_post_is_limited() -> None:
    assert together(replace(RULES, max_total_bytes=3_999_999), *[IMAGE] * 4) == [
        ("MEDIA_TOO_LARGE", "convert_media", "Compress them to 3,999,999 bytes together, or leave some out.")
    ]


@pytest.mark.parametrize(
    ("rules", "repair"),
    [
        (RULES, "Attach an image or a video."),
        (replace(RULES, images=None), "Attach a video."),
        (replace(RULES, videos=None), "Attach an image."),
    ],
)
def test_the_issue_of_missing_media_names_the_kinds(rules: MediaRules, repair: str) -> None:
    assert together(replace(rules, required=True)) == [("MEDIA_REQUIRED", "add_media", repair)]


def test_the_hint_for_a_long_alt_text_has_one_that_fits() -> None:
    rules = replace(RULES, alt_text_max_length=20)
    long = replace(IMAGE, alt_text="A bench in the evening sun")

    [issue] = media_list_and_alt_text_issues("mosaic", rules, [IMAGE, long])

    assert (issue.code, issue.severity, issue.field, issue.auto_fixable) == (
        "ALT_TEXT_TOO_LONG",
        "error",
        "media[1].alt_text",
        True,
    )
    assert issue.repair_hint
    assert (issue.repair_hint.action, issue.repair_hint.field) == ("replace_text", "media[1].alt_text")
    assert issue.repair_hint.value == "A bench in the…"
    assert media_list_and_alt_text_issues("mosaic", rules, [IMAGE, replace(long, alt_text=issue.repair_hint.value)]) == []


@pytest.mark.parametrize(
    ("rules", "asset", "warned"),
    [
        (replace(RULES, alt_text_max_length=20), IMAGE, True),
        (replace(RULES, alt_text_max_length=20), GIF, True),
        (replace(RULES, alt_text_max_length=20), VIDEO, False),
        (RULES, IMAGE, False),
    ],
)
def test_a_picture_without_alt_text_gets_a_warning_if_the_platform_accepts_alt_texts(
    rules: MediaRules, asset: MediaInfo, warned: bool
) -> None:
    issues = media_list_and_alt_text_issues("mosaic", rules, [replace(asset, alt_text=" ")])

    assert [(issue.code, issue.severity, issue.field) for issue in issues] == (
        [("ALT_TEXT_MISSING", "warning", "media[0].alt_text")] if warned else []
    )
