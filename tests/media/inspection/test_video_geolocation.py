"""Geolocation metadata is overwritten in a video: the file keeps its length, its offsets and its samples."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from media.errors import MediaTypeNotAllowed
from media.inspection import inspect_file, remove_geolocation
from tests.media.document_files import pdf
from tests.media.image_files import XMP_WITH_POSITION, exif
from tests.media.video_files import (
    FIRST_SAMPLE,
    SAMPLES,
    box,
    cluster,
    fragmented_movie,
    full,
    info,
    metadata_list,
    movie,
    tag,
    track,
    tracks,
    webm,
)

Write = Callable[[bytes], Path]

POSITION = b"+52.5164+013.3777/"
XYZ = box(b"\xa9xyz", struct.pack(">HH", len(POSITION), 0x15C7), POSITION)
KEY = b"com.apple.quicktime.location.ISO6709"
XMP_BOX = bytes.fromhex("be7acfcb97a942e89c71999491e3afac") + XMP_WITH_POSITION
NAME = box(b"name", b"A morning")
VIDEO_SAMPLES = SAMPLES[:32]
DASHCAM_BLOCK = struct.pack(">I", 64) + b"freeGPS " + POSITION + bytes(34)


def following(entry: bytes, more: bytes = b"") -> bytes:
    """A geolocation track; its samples are the second half of the media data."""
    return track(handler=b"meta", entry=entry, offset=FIRST_SAMPLE + 32, sizes=(16, 16), more=more)


def dashcam() -> bytes:
    place = len(movie())
    table = box(b"gps ", bytes(8), struct.pack(">II", place + len(box(b"gps ", bytes(16))), 64))
    return movie(track(), table, tail=DASHCAM_BLOCK)


MOVIES = {
    "user_data": lambda: movie(track(), box(b"udta", NAME, XYZ)),
    "user_data_of_a_track": lambda: movie(with_user_data(track(), XYZ)),
    "user_data_3gpp": lambda: movie(track(), box(b"udta", full(b"loci", b"\x15\xc7Berlin\0" + bytes(14)))),
    "user_data_that_cannot_be_walked": lambda: movie(track(), box(b"udta", b"\xff\xff\xff\xff" + POSITION)),
    "maker_box_with_exif": lambda: movie(track(), box(b"udta", NAME, box(b"thmb", exif()))),
    "quicktime_list": lambda: movie(track(), metadata_list(KEY, POSITION), brand=b"qt  "),
    "quicktime_list_in_user_data": lambda: movie(track(), box(b"udta", metadata_list(b"location", b"Berlin"))),
    "itunes_list": lambda: movie(track(), box(b"udta", iso_list(XYZ))),
    "xmp": lambda: movie(tail=box(b"uuid", XMP_BOX)),
    "xmp_behind_a_size_of_64_bits": lambda: movie(tail=struct.pack(">I4sQ", 1, b"uuid", 16 + len(XMP_BOX)) + XMP_BOX),
    "dashcam": dashcam,
}
TRACKS = {
    "google_camm": lambda: following(b"camm"),
    "gopro": lambda: following(b"gpmd"),
    "apple_by_its_keys": lambda: following(b"mebx", more=b"mdta" + KEY),
}
SILENT = {
    "mp4": lambda: movie(track(), box(b"udta", NAME)),
    "mov_list": lambda: movie(track(), metadata_list(b"com.apple.quicktime.make", b"Apple"), brand=b"qt  "),
    "track_of_faces": lambda: movie(track(), following(b"mebx", more=b"mdtacom.apple.quicktime.detected-face")),
    "fragments": fragmented_movie,
    "webm": lambda: webm(info(), tracks(), tag(b"TITLE", b"A morning", checksum=True), cluster()),
    "pdf": pdf,
}


def with_user_data(trak: bytes, *entries: bytes) -> bytes:
    return box(b"trak", trak[8:], box(b"udta", *entries))


def iso_list(entry: bytes) -> bytes:
    """A metadata list with a version and flags, without keys."""
    return full(b"meta", full(b"hdlr", bytes(4), b"mdir", bytes(13)), box(b"ilst", entry))


def has_geolocation(content: bytes) -> bool:
    return any(word in content for word in (POSITION, b"Berlin", b"GPSLat", b"\xa9xyz", b"\x88\x25\x00\x04"))


@pytest.mark.parametrize("name", MOVIES)
def test_geolocation_is_overwritten(name: str, written: Write) -> None:
    content = MOVIES[name]()
    path = written(content)
    inspected = inspect_file(path)
    assert has_geolocation(content)

    assert remove_geolocation(path, inspected.mime_type) is True

    cleaned = path.read_bytes()
    assert not has_geolocation(cleaned)
    assert len(cleaned) == len(content)
    assert cleaned.index(SAMPLES) == content.index(SAMPLES)
    assert inspect_file(path) == inspected
    assert remove_geolocation(path, inspected.mime_type) is False


def test_other_user_data_is_not_changed(written: Write) -> None:
    path = written(movie(track(), box(b"udta", XYZ, NAME)))

    remove_geolocation(path, inspect_file(path).mime_type)

    assert NAME in path.read_bytes()


@pytest.mark.parametrize("name", TRACKS)
def test_a_geolocation_track_is_overwritten_with_its_samples(name: str, written: Write) -> None:
    content = movie(track(), TRACKS[name]())
    path = written(content)
    inspected = inspect_file(path)

    assert remove_geolocation(path, inspected.mime_type) is True

    cleaned = path.read_bytes()
    assert len(cleaned) == len(content)
    assert VIDEO_SAMPLES + bytes(32) in cleaned
    assert cleaned.count(b"trak") == 1
    assert inspect_file(path) == inspected


def test_samples_outside_the_media_data_are_not_changed(written: Write) -> None:
    tables = track(handler=b"meta", entry=b"camm", offset=0, sizes=(2000,))
    path = written(movie(track(), tables))
    inspected = inspect_file(path)

    assert remove_geolocation(path, inspected.mime_type) is True
    assert SAMPLES in path.read_bytes()
    assert inspect_file(path) == inspected


def test_tracks_that_name_the_same_samples_many_times_are_refused(written: Write) -> None:
    chunks = full(b"stco", struct.pack(">I", 500), struct.pack(">I", FIRST_SAMPLE) * 500)
    sizes = full(b"stsz", struct.pack(">II", 64, 500))
    tables = box(b"stbl", full(b"stsd", struct.pack(">I", 1), box(b"camm", bytes(16))), sizes, chunks)
    runs = full(b"stsc", struct.pack(">4I", 1, 1, 1, 1))
    media = box(b"mdia", full(b"hdlr", bytes(4), b"meta"), box(b"minf", box(b"stbl", tables[8:], runs)))
    content = movie(track(), box(b"trak", media))
    path = written(content)
    inspected = inspect_file(path)

    with pytest.raises(MediaTypeNotAllowed, match="broken"):
        remove_geolocation(path, inspected.mime_type)
    assert path.read_bytes() == content


@pytest.mark.parametrize("name", [b"LOCATION", b"RECORDING_LOCATION", b"com.apple.quicktime.location.ISO6709"])
@pytest.mark.parametrize("value", [POSITION, b"Berlin", b"Berlin, " * 40])
def test_geolocation_tags_of_a_webm_become_void_elements(name: bytes, value: bytes, written: Write) -> None:
    content = webm(info(), tracks(), tag(name, value, checksum=True), tag(b"TITLE", b"A morning"), cluster())
    path = written(content)
    inspected = inspect_file(path)

    assert remove_geolocation(path, inspected.mime_type) is True

    cleaned = path.read_bytes()
    assert len(cleaned) == len(content)
    assert name not in cleaned
    assert value not in cleaned
    assert b"A morning" in cleaned
    assert inspect_file(path) == inspected
    assert remove_geolocation(path, inspected.mime_type) is False


@pytest.mark.parametrize("name", SILENT)
def test_a_video_without_geolocation_is_not_changed(name: str, written: Write) -> None:
    content = SILENT[name]()
    path = written(content)

    assert remove_geolocation(path, inspect_file(path).mime_type) is False
    assert path.read_bytes() == content
