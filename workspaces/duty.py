"""The worker's duty to send e-mail, one message after another, in its own thread."""

from __future__ import annotations

from config.db.duty import PollingDuty
from workspaces.services.mail import DUTY, claim_mail, send_mail


class MailDuty(PollingDuty):
    """`run_once` sends the message that has been due longest."""

    name = DUTY

    def run_once(self) -> bool:
        mail = claim_mail()
        if mail is None:
            return False
        send_mail(mail)
        return True
