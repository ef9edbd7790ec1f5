"""`manage.py doctor`: the command that prints what the checks in config/console/doctor.py have found."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.console.doctor import FindingLevel, run_doctor_checks


class Command(BaseCommand):
    """The command `manage.py doctor`: prints each finding, and exits with an error if one of them is a fault."""

    help = "Checks settings, database, broker, workers, scanner, storage, providers, mail and sign-in of this deployment."
    requires_system_checks = []  # it runs them as one of its own checks

    def handle(self, *args: Any, **options: Any) -> None:
        styles = {
            FindingLevel.OK: self.style.SUCCESS,
            FindingLevel.WARNING: self.style.WARNING,
            FindingLevel.FAULT: self.style.ERROR,
        }
        faults = 0
        for finding in run_doctor_checks():
            faults += finding.level is FindingLevel.FAULT
            mark = styles[finding.level](f"{finding.level:<8}")
            self.stdout.write(f"{mark} {finding.what:<15} {finding.found}")
            if finding.todo:
                self.stdout.write(f"{'':<24} → {finding.todo}")
        if faults:
            raise CommandError(f"{faults} {'fault' if faults == 1 else 'faults'}; the lines with → say what to do.")
        self.stdout.write("No faults found.")
