"""Documents and other files that must be refused: name, content, and the expected message.

Images and videos are in separate modules.
"""

from __future__ import annotations

import gzip
import io
import random
import struct
import tarfile
import zipfile
from collections.abc import Callable

from PIL import Image

from tests.media.document_files import packed_objects, pdf, stream
from tests.media.image_files import encoded, picture
from tests.media.nasty_images import NASTY_IMAGES
from tests.media.nasty_videos import NASTY_VIDEOS
from tests.media.video_files import SAMPLES, box, file_type, info, tracks, webm

Nasty = tuple[str, Callable[[], bytes], str]

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = b"<!DOCTYPE html><html><body><script>alert(1)</script></body></html>"
IS_SVG, IS_HTML, IS_ZIP, IS_TEXT = "an SVG image", "an HTML page", "a ZIP archive", "is a text"
PDF_ACTIVE, PDF_CUT = "holds scripts, programs or other files", "PDF is cut off"
UNKNOWN = "not of a supported media type"


def archive(name: str = "a.txt") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archived:
        archived.writestr(name, "content")
    return file.getvalue()


def tape_archive() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archived:
        archived.addfile(tarfile.TarInfo("a.txt"))
    return file.getvalue()


def family(brand: bytes, *compatible: bytes) -> bytes:
    """An ISO media file that is not a video."""
    return file_type(brand, *compatible) + box(b"meta", bytes(40)) + box(b"mdat", SAMPLES)


def other_image(form: str) -> bytes:
    return encoded(form, picture("RGB", (16, 16)))


MARKUP: list[Nasty] = [
    ("svg", lambda: SVG, IS_SVG),
    ("svg_after_byte_order_mark", lambda: b"\xef\xbb\xbf" + SVG, IS_SVG),
    ("svg_after_white_space", lambda: b"\r\n\t  \n" + SVG, IS_SVG),
    ("svg_after_prolog_and_comment", lambda: b'<?xml version="1.0"?>\n<!-- ' + b"x" * 3000 + b" -->" + SVG, IS_SVG),
    ("svg_with_prefix", lambda: b'<s:svg xmlns:s="http://www.w3.org/2000/svg"/>', IS_SVG),
    ("svg_in_utf_16", lambda: SVG.decode().encode("utf-16"), IS_SVG),
    ("svg_in_utf_16_without_mark", lambda: SVG.decode().encode("utf-16-be"), IS_SVG),
    ("svg_upper_case", lambda: b"<SVG ONLOAD=alert(1)>", IS_SVG),
    ("svg_compressed", lambda: gzip.compress(SVG), "a compressed SVG image"),
    ("svg_behind_a_long_comment", lambda: b"<!--" + b"x" * 100_000 + b"-->" + SVG, "an XML document or other markup"),
    ("html", lambda: HTML, IS_HTML),
    ("html_after_white_space", lambda: b"\n\n   \x0c" + HTML, IS_HTML),
    ("html_without_head", lambda: b"<script>alert(1)</script>", IS_HTML),
    ("html_image_tag", lambda: b"<img src=x onerror=alert(1)>", IS_HTML),
    ("xhtml", lambda: b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>', IS_HTML),
    ("xml", lambda: b'<?xml version="1.0"?><a/>', "an XML document"),
    ("php", lambda: b"<?php system($_GET['c']); ?>", "a PHP script"),
]
OTHER_TYPES: list[Nasty] = [
    ("empty", lambda: b"", "is empty"),
    ("one_byte", lambda: b"\xff", UNKNOWN),
    ("zeros", lambda: bytes(5000), UNKNOWN),
    ("noise", lambda: random.Random(1).randbytes(5000), UNKNOWN),
    ("text", lambda: b"I am a photograph.", IS_TEXT),
    ("json", lambda: b'{"image": true}', IS_TEXT),
    ("text_that_names_a_box", lambda: b"The free lunch is a video, honestly.", IS_TEXT),
    ("playlist", lambda: b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", "a playlist"),
    ("shell_script", lambda: b"#!/bin/sh\nid\n", "a script"),
    ("windows_program", lambda: b"MZ" + bytes(200), "a Windows program"),
    ("elf_program", lambda: b"\x7fELF\x02\x01\x01" + bytes(200), "a program"),
    ("web_assembly", lambda: b"\x00asm\x01\x00\x00\x00", "a program"),
    ("java_class", lambda: b"\xca\xfe\xba\xbe\x00\x00\x00\x34" + bytes(50), UNKNOWN),
    ("zip", archive, IS_ZIP),
    ("empty_zip", lambda: b"PK\x05\x06" + bytes(18), "an empty ZIP archive"),
    ("word_document", lambda: archive("word/document.xml"), IS_ZIP),
    ("gzip", lambda: gzip.compress(b"content"), "a gzip archive"),
    ("broken_gzip", lambda: b"\x1f\x8b\x08" + bytes(20), "a gzip archive"),
    ("tar", tape_archive, UNKNOWN),
    ("rar", lambda: b"Rar!\x1a\x07\x01\x00" + bytes(50), "RAR"),
    ("seven_zip", lambda: b"7z\xbc\xaf\x27\x1c" + bytes(50), "7-Zip"),
    ("tiff", lambda: other_image("TIFF"), "a TIFF or raw image"),
    ("bmp", lambda: other_image("BMP"), "itmap"),
    ("ico", lambda: other_image("ICO"), UNKNOWN),
    ("jpeg_2000", lambda: other_image("JPEG2000"), "a JPEG 2000 image"),
    ("psd", lambda: b"8BPS\x00\x01" + bytes(50), "Photoshop"),
    ("jpeg_xl", lambda: b"\xff\x0a" + bytes(50), "a JPEG XL image"),
    ("ppm", lambda: other_image("PPM"), UNKNOWN),
    ("avif", lambda: other_image("AVIF"), "an AVIF image"),
    ("avif_sequence", lambda: family(b"avis", b"avif", b"msf1", b"iso8"), "an AVIF image"),
    ("heic", lambda: family(b"heic", b"mif1", b"heic"), "a HEIC image"),
    ("heif_by_compatible_brand", lambda: family(b"abcd", b"heic", b"abcd"), "a HEIC image"),
    ("family_of_nothing_known", lambda: family(b"abcd", b"abcd", b"efgh"), "no MP4 or MOV video"),
    ("postscript", lambda: b"%!PS-Adobe-3.0\n", IS_TEXT),
    ("mp3", lambda: b"ID3\x04" + bytes(50), "MP3"),
    ("wav", lambda: b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(50), "Waveform"),
    ("avi", lambda: b"RIFF\x24\x00\x00\x00AVI LIST" + bytes(50), "Audio Video Interleave"),
    ("flac", lambda: b"fLaC" + bytes(50), "FLAC"),
    ("ogg", lambda: b"OggS" + bytes(50), "Ogg"),
    ("flash_video", lambda: b"FLV\x01" + bytes(50), "ideo"),
    ("matroska", lambda: webm(info(), tracks(), kind=b"matroska"), "a Matroska video"),
    ("three_gpp", lambda: family(b"3gp5", b"isom"), "a 3GPP video"),
    ("mpeg_4_audio", lambda: family(b"M4A ", b"mp42"), "an MPEG-4 audio file"),
    ("riff_of_nothing", lambda: b"RIFF" + struct.pack("<I", 4) + b"ABCD", UNKNOWN),
]
DOCUMENTS: list[Nasty] = [
    ("pdf_header_alone", lambda: b"%PDF-1.7\n", PDF_CUT),
    ("pdf_of_no_version", lambda: pdf(header=b"%PDF-9.9\n"), "PDF is broken"),
    ("pdf_after_other_bytes", lambda: b"GARBAGE\n" + pdf(), "begins only after other bytes"),
    ("pdf_cut_in_the_middle", lambda: pdf(stream(b"x" * 5000))[:300], PDF_CUT),
    ("pdf_without_end", lambda: pdf().replace(b"%%EOF", b""), PDF_CUT),
    ("pdf_whose_end_lies_far_back", lambda: pdf() + b"\n" * 5000, PDF_CUT),
    ("pdf_without_start", lambda: pdf().replace(b"startxref", b"startnone"), PDF_CUT),
    ("pdf_that_starts_behind_its_end", lambda: pdf().replace(b"startxref\n", b"startxref\n99"), PDF_CUT),
    ("pdf_without_root", lambda: pdf().replace(b"/Root", b"/Boot"), "PDF is broken"),
    ("pdf_with_script", lambda: pdf(catalog=b"/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>"), PDF_ACTIVE),
    ("pdf_with_script_name", lambda: pdf(b"<< /S/JS/JS(app.alert)>>"), PDF_ACTIVE),
    ("pdf_with_escaped_script", lambda: pdf(b"<< /S /Java#53cript /J#53 (x) >>"), PDF_ACTIVE),
    ("pdf_with_script_behind_a_bracket", lambda: pdf(b"% (\n<< /S /Any /JS (x) >>"), PDF_ACTIVE),
    ("pdf_with_script_in_a_stream", lambda: pdf(b"<< >>\nstream\n<< /S /JavaScript >>\nendstream"), PDF_ACTIVE),
    ("pdf_with_program", lambda: pdf(b"<< /S /Launch /F (cmd.exe) >>"), PDF_ACTIVE),
    ("pdf_with_files", lambda: pdf(catalog=b"/Names << /EmbeddedFiles << /Names [] >> >>"), PDF_ACTIVE),
    ("pdf_with_packed_script", lambda: pdf(packed_objects(b"4 0 << /S /JavaScript /JS (x) >>")), PDF_ACTIVE),
    ("pdf_with_packed_bomb", lambda: pdf(packed_objects(bytes(20_000_000))), "unpacks to more"),
    ("pdf_with_stream_cut", lambda: pdf(b"<< /Length 9 >>\nstream\nabc"), PDF_CUT),
    ("pdf_then_zip", lambda: pdf() + archive(), "ZIP archive as well"),
    ("pdf_then_html", lambda: pdf(b"(%s)" % (b"x" * 2000)) + HTML, "followed by a file of another type"),
    ("pdf_with_markup_in_front", lambda: pdf(header=b"%PDF-1.7\n%" + HTML + b"\n"), "markup in its first bytes"),
]
POLYGLOTS: list[Nasty] = [
    (f"{form.lower()}_then_{name}", lambda form=form, tail=tail: encoded(form) + tail(), says)  # type: ignore[misc]
    for form in ("JPEG", "PNG", "GIF", "WEBP")
    for name, tail, says in (
        ("zip", archive, "ZIP archive as well"),
        ("html", lambda: b"\n" + HTML, "holds a script"),
        ("php", lambda: b"<?php system('id');", "holds a script"),
        ("page_without_script", lambda: b"<html ><body onload=x>", "markup|another type"),
        ("svg", lambda: b"<svg onload=alert(1)>", "markup|another type"),
        ("pdf", pdf, "another type"),
        ("rar", lambda: b"\x00\x00Rar!\x1a\x07\x01\x00" + bytes(50), "another type"),
        ("program", lambda: b"\x00\x00MZ" + bytes(60), "another type"),
        ("shell_script", lambda: b"\n#!/bin/sh\nid\n", "another type"),
    )
]
NASTY: list[Nasty] = [*MARKUP, *OTHER_TYPES, *DOCUMENTS, *POLYGLOTS, *NASTY_IMAGES, *NASTY_VIDEOS]

# Pillow writes JPEG 2000, AVIF and others only after this.
Image.init()
