"""`python deploy/audit.py requirements.lock`: known vulnerabilities of the locked versions, by pip-audit.

pip-audit is no dependency of the project: it is used where it is installed and can reach its database, and
left out with a word where not. Exit status 1 means that it found something.
"""

import shutil
import subprocess
import sys

UNREACHABLE = (
    "ConnectionError",
    "Max retries",
    "Name or service not known",
    "Temporary failure",
    "ServiceError",
)

SKIPPED = "could not be audited"


def main() -> int:
    program = shutil.which("pip-audit")
    if program is None:
        print("audit left out: pip-audit is not installed (`pipx install pip-audit`)")
        return 0
    command = [program, "--disable-pip", "--require-hashes", "-r", sys.argv[1]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # found on the path
    if done.returncode and any(word in done.stderr for word in UNREACHABLE):
        print("audit left out: the database of vulnerabilities cannot be reached from here")
        return 0
    skipped = done.stdout.count(SKIPPED)
    if skipped:
        # An index may mirror packages but not what is known of them: status 0 without a word would be a lie.
        print(
            f"audit left out for {skipped} packages: the database of vulnerabilities does not know them here"
        )
    print(done.stdout or done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
