"""The worker loop that sends e-mail, one message after another."""

from __future__ import annotations

from config.jobs.worker_loop import WorkerLoop
from workspaces.services.mail import LOOP, claim_mail, send_mail


class MailLoop(WorkerLoop):
    """`run_once` sends the message that has been due longest."""

    name = LOOP

    def run_once(self) -> bool:
        mail = claim_mail()
        if mail is None:
            return False
        send_mail(mail)
        return True
