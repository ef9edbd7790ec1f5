"""API view of the next slots of an account, with the posts that have taken them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.selectors import get_accessible_account
from config.api import fields
from config.api.operation import Call, Reply, operation
from config.api.policies import Access
from config.api.serializers import QuerySerializer
from config.api.views import OperationViewSet
from posts.post_group_json import format_timestamp
from posts.slot_choice import next_slots_with_occupants


class NextSlotsQuery(QuerySerializer):
    count = fields.QueryInteger(min_value=1, max_value=50, default=10, help_text="How many slots (1 to 50, default 10).")


class NextSlotSerializer(serializers.Serializer):
    """The API representation of one of an account's next slots."""

    at = serializers.DateTimeField()
    local = serializers.CharField(help_text="The local time that the slot names: YYYY-MM-DDTHH:MM.")
    post_group_id = serializers.CharField(allow_null=True, help_text="The post that has taken it; null if it is free.")


class NextSlotsSerializer(serializers.Serializer):
    """The response of the API view of an account's next slots, earliest first; empty if the account has no slots."""

    next = NextSlotSerializer(many=True)


class SlotViewSet(OperationViewSet):
    @operation(
        "accounts.next_slots",
        summary="List the next slots of an account",
        access=Access("accounts.read"),
        query=NextSlotsQuery,
        responses={200: NextSlotsSerializer},
    )
    def list_next_slots(self, call: Call, account_id: str) -> Reply:
        account = get_accessible_account(caller=call.caller, account_id=account_id, scope="accounts.read", write=False)
        shown: list[dict[str, Any]] = [
            {
                "at": format_timestamp(each.at),
                "local": each.local.isoformat(timespec="minutes"),
                "post_group_id": group_id,
            }
            for each, group_id in next_slots_with_occupants(account, count=call.query["count"])
        ]
        return Reply(body={"next": shown})
