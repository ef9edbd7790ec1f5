"""The worker loop that sends queued e-mail."""

from __future__ import annotations

from config.jobs.worker_loop import WorkerLoop
from workspaces.services.mail import MAIL_LOOP, claim_next_mail, send_claimed_mail


class MailLoop(WorkerLoop):
    """The worker loop that sends one queued e-mail in each run: the e-mail that has been due longest."""

    name = MAIL_LOOP

    def run_once(self) -> bool:
        mail = claim_next_mail()
        if mail is None:
            return False
        send_claimed_mail(mail)
        return True
