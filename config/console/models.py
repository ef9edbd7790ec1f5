"""The SecondFactor model: an operator's authenticator app (TOTP, RFC 6238) and recovery codes."""

from __future__ import annotations

import uuid
from base64 import b32encode
from secrets import token_bytes, token_hex
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from django.conf import settings
from django.db import models
from django.utils.crypto import constant_time_compare
from django_otp.models import Device, ThrottlingMixin, TimestampMixin
from django_otp.oath import TOTP

from config.db.encryption import EncryptedJSONField
from workspaces.models import User

ISSUER = "Social Publishing Service"
CODE_DIGITS = 6
TOLERATED_TIME_STEPS = 1  # 30-second steps by which the app's clock may differ
RECOVERY_CODE_COUNT = 10
RECOVERY_CODE_BYTES = 10  # 80 bits, 16 characters
MAX_FAILURES_COUNTED = 11  # limits the pause between wrong codes to 2**10 seconds, 17 minutes


class SecondFactor(ThrottlingMixin, TimestampMixin, Device):
    """An operator's second factor at sign-in: the secrets of an authenticator app (TOTP) and recovery codes, encrypted.

    Change it in a transaction with the row locked, so that two requests cannot use the same code.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="second_factor")
    secrets = EncryptedJSONField()  # {"key": hex, "recovery_codes": [...]}
    last_step = models.BigIntegerField(default=-1)  # time step of the last accepted code; codes up to it are refused

    class Meta:
        db_table = "site_secondfactor"

    def __str__(self) -> str:
        return f"Second factor of {self.user_id}"

    @classmethod
    def create_or_replace_unconfirmed(cls, user: User) -> SecondFactor:
        """Create an operator's SecondFactor row, to be confirmed by a first code; replaces an earlier unconfirmed one."""
        cls.objects.filter(user=user, confirmed=False).delete()
        made = cls(user=user, name="Authenticator app", confirmed=False)
        made.secrets = {"key": token_hex(20), "recovery_codes": []}
        made.save(force_insert=True)
        return made

    @property
    def key_in_base32(self) -> str:
        """Return the TOTP key of this SecondFactor row in base32, which a person can type into an authenticator app."""
        return b32encode(self._key).decode()

    @property
    def otpauth_url(self) -> str:
        """Return the otpauth:// URL with the TOTP key of the second factor, for the QR code."""
        label = f"{ISSUER}:{self.user.get_username()}@{urlsplit(settings.BASE_URL).hostname}"
        query = urlencode({"secret": self.key_in_base32, "issuer": ISSUER}, quote_via=quote)
        return f"otpauth://totp/{quote(label)}?{query}"

    @property
    def recovery_codes_left(self) -> int:
        return len(self.secrets["recovery_codes"])

    def verify_token(self, token: str) -> bool:
        """Return whether a code fits this SecondFactor row; a code works once, and wrong ones delay the next try."""
        allowed, _ = self.verify_is_allowed()
        if not allowed:
            return False
        plain = "".join(token.split()).replace("-", "").lower()
        if not (self._accepts_code(plain) or self._accepts_recovery_code(plain)):
            self.throttle_increment()
            return False
        self.throttle_reset(commit=False)
        self.set_last_used_timestamp(commit=False)
        self.save()
        return True

    def mark_confirmed_and_issue_codes(self) -> list[str]:
        """Mark this SecondFactor row as confirmed and return its new recovery codes, which are shown only once."""
        made = [b32encode(token_bytes(RECOVERY_CODE_BYTES)).decode().lower() for _ in range(RECOVERY_CODE_COUNT)]
        self.secrets = {**self.secrets, "recovery_codes": made}
        self.confirmed = True
        self.save()
        return ["-".join(code[start : start + 4] for start in range(0, len(code), 4)) for code in made]

    def throttle_increment(self, commit: bool = True) -> None:
        super().throttle_increment(commit=False)
        self.throttling_failure_count: int = min(self.throttling_failure_count, MAX_FAILURES_COUNTED)
        if commit:
            self.save()

    def get_throttle_factor(self) -> int:
        return 1

    @property
    def _key(self) -> bytes:
        return bytes.fromhex(self.secrets["key"])

    def _accepts_code(self, token: str) -> bool:
        if not (token.isascii() and token.isdecimal() and len(token) == CODE_DIGITS):
            return False
        totp: Any = TOTP(self._key, digits=CODE_DIGITS)
        if not totp.verify(int(token), TOLERATED_TIME_STEPS, self.last_step + 1):
            return False
        self.last_step = totp.t()
        return True

    def _accepts_recovery_code(self, token: str) -> bool:
        codes = self.secrets["recovery_codes"]
        left = [code for code in codes if not constant_time_compare(code, token)]
        if len(left) == len(codes):
            return False
        self.secrets = {**self.secrets, "recovery_codes": left}
        return True
