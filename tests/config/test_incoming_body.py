"""IncomingBody: data in pieces of any size, and reads before and after the body is complete."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.api.errors import MalformedRequest, PayloadTooLarge, RequestTimeout
from config.api.incoming_body import BodyNotReceived, ChunkDecoder, IncomingBody

CONTENT = st.lists(st.binary(min_size=1, max_size=40), max_size=8)


def chunked(pieces: list[bytes], trailers: bytes = b"") -> bytes:
    chunks = b"".join(f"{len(piece):x}".encode() + b"\r\n" + piece + b"\r\n" for piece in pieces)
    return chunks + b"0\r\n" + trailers + b"\r\n"


@given(pieces=CONTENT, cuts=st.lists(st.integers(1, 30), min_size=1), rest=st.binary(max_size=10))
def test_chunks_are_joined_however_they_are_split(pieces: list[bytes], cuts: list[int], rest: bytes) -> None:
    decoder, wire, content, behind = ChunkDecoder(), chunked(pieces, b"X-Sum: 1\r\n") + rest, b"", b""
    turn = 0
    while wire and not decoder.ended:
        size = cuts[turn % len(cuts)]
        taken, behind = decoder.decode(wire[:size])
        content, wire, turn = content + taken, wire[size:], turn + 1

    assert decoder.ended
    assert (content, behind + wire) == (b"".join(pieces), rest)


@pytest.mark.parametrize(
    "wire", [b"nonsense\r\n", b"\r\n", b"-1\r\n", b"5\r\nabcdefg\r\n", b"f" * 20 + b"\r\n", b"1" * 9000, b"0x5\r\nabcde\r\n"]
)
def test_invalid_chunks_are_refused(wire: bytes) -> None:
    with pytest.raises(MalformedRequest):
        ChunkDecoder().decode(wire)


def test_a_chunk_extension_is_ignored() -> None:
    assert ChunkDecoder().decode(b'3 ;name="value"\r\nabc\r\n0\r\n\r\n') == (b"abc", b"")


def test_a_body_can_be_read_when_it_is_complete() -> None:
    body = IncomingBody(6, "")
    body.feed(b"abc")
    with pytest.raises(BodyNotReceived):
        body.read()

    assert body.feed(b"defGET /") == b"GET /"
    assert (body.read(2), body.readline(), body.read()) == (b"ab", b"cdef", b"")


def test_a_body_with_a_too_large_content_length_is_refused_before_it_is_received() -> None:
    body = IncomingBody(5_000, "")
    body.limit = 4_999
    assert body.needs_no_more_bytes
    with pytest.raises(PayloadTooLarge):
        body.read()


def test_a_chunked_body_is_refused_when_it_becomes_too_long(tmp_path: object) -> None:
    body = IncomingBody(None, str(tmp_path))
    body.limit = 10
    body.feed(b"8\r\nabcdefgh\r\n")
    assert not body.needs_no_more_bytes
    body.feed(b"8\r\nabcdefgh\r\n")
    with pytest.raises(PayloadTooLarge):
        body.read()


def test_an_incomplete_or_slow_body_raises_its_fault() -> None:
    broken, slow = IncomingBody(5, ""), IncomingBody(5, "")
    broken.record_lost_connection()
    slow.fault = RequestTimeout()
    with pytest.raises(MalformedRequest):
        broken.read()
    with pytest.raises(RequestTimeout):
        slow.read()
