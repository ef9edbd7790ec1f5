"""The dashboard's form for the alt text of a media asset."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from media.dashboard.formatting import KIND_LABELS
from media.models import MediaAsset
from media.serializers import MAX_ALT_TEXT


class NormalizedMultilineField(forms.CharField):
    """The form field for an alt text of several lines; CR LF line ends, as browsers send them, become LF."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class AltTextForm(forms.Form):
    """The dashboard form for one media asset's alt text.

    The field names start with the asset's id, so that a page can contain several of these forms.
    """

    alt_text = NormalizedMultilineField(
        required=False,
        strip=False,
        max_length=MAX_ALT_TEXT,
        widget=forms.Textarea({"rows": 3, "class": "short"}),
        error_messages={"max_length": _("This text has %(show_value)d characters; the maximum is %(limit_value)d.")},
    )

    def __init__(self, asset: MediaAsset, data: Any = None) -> None:
        super().__init__(data, prefix=asset.id, initial={"alt_text": asset.alt_text})
        self.asset = asset
        self.fields["alt_text"].label = gettext("Alt text for %(name)s") % {"name": asset.filename}

    @property
    def kind_label(self) -> str:
        """Return the label of the media asset's kind, which its alt text form shows if there is no preview picture."""
        return str(KIND_LABELS[self.asset.kind])
