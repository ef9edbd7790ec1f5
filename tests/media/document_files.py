"""PDF files generated for tests."""

from __future__ import annotations

import zlib

PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>"


def pdf(*objects: bytes, catalog: bytes = b"", header: bytes = b"%PDF-1.7\n") -> bytes:
    """A one-page document with additional objects and catalog entries."""
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R " + catalog + b" >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        PAGE,
        *objects,
    ]
    content = header + b"%\xe2\xe3\xcf\xd3\n"
    offsets = []
    for number, body in enumerate(bodies, start=1):
        offsets.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(bodies) + 1, len(content))
    return content + b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1) + table + trailer


def stream(content: bytes, kind: bytes = b"") -> bytes:
    """A compressed stream."""
    packed = zlib.compress(content)
    return b"<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (kind, len(packed), packed)


def packed_objects(content: bytes) -> bytes:
    """An object stream."""
    return stream(content, b"/Type /ObjStm /N 1 /First 4")
