"""The bill of materials: `python deploy/sbom.py requirements.lock` prints CycloneDX 1.5 JSON.

Made from the lock file alone, so it is the same on every machine and says exactly what is deployed: name, version,
package URL, the hashes of all files that pip would accept, and what asked for it. Licences come from the installed
packages, where they are installed.
"""

import json
import re
import sys
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

LINE = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)")


@dataclass(slots=True)
class Component:
    """One locked package."""

    name: str
    version: str
    hashes: list[str] = field(default_factory=list)
    wanted_by: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"pkg:pypi/{re.sub(r'[-_.]+', '-', self.name).lower()}@{self.version}"


def read_lock(text: str) -> list[Component]:
    """The packages of a lock file with hashes, as `make lock` writes it."""
    found: list[Component] = []
    for line in text.splitlines():
        entry, comment = LINE.match(line), line.strip().removeprefix("#").strip()
        if entry:
            found.append(Component(entry["name"], entry["version"]))
        elif "--hash=sha256:" in line:
            found[-1].hashes.append(line.partition("--hash=sha256:")[2].strip(" \\"))
        elif line.startswith("    #") and found:
            name = comment.removeprefix("via").strip()
            if name:
                found[-1].wanted_by.append(name)
    return found


def bill(components: list[Component], version: str) -> dict[str, Any]:
    """A CycloneDX document."""
    by_name = {each.name: each for each in components}
    wants: dict[str, list[str]] = {each.url: [] for each in components}
    roots = []
    for each in components:
        for wanter in each.wanted_by:
            if wanter in by_name:
                wants[by_name[wanter].url].append(each.url)
            else:
                roots.append(each.url)
    ours = f"pkg:pypi/galloon@{version}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "name": "galloon", "version": version, "bom-ref": ours}
        },
        "components": [_component(each) for each in components],
        "dependencies": [
            {"ref": ours, "dependsOn": sorted(set(roots))},
            *({"ref": url, "dependsOn": sorted(set(wanted))} for url, wanted in wants.items()),
        ],
    }


def _component(each: Component) -> dict[str, Any]:
    licence = _licence(each.name)
    return {
        "type": "library",
        "name": each.name,
        "version": each.version,
        "purl": each.url,
        "bom-ref": each.url,
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in each.hashes],
        **({"licenses": [{"license": {"name": licence}}]} if licence else {}),
    }


def _licence(name: str) -> str:
    try:
        known = metadata(name)
    except PackageNotFoundError:
        return ""
    stated = known.get("License-Expression") or known.get("License") or ""
    return stated.splitlines()[0][:80] if stated else ""


def project_version(root: Path) -> str:
    found = re.search(r'^version = "([^"]+)"', (root / "pyproject.toml").read_text(), re.MULTILINE)
    return found[1] if found else "0"


def main() -> None:
    lock = Path(sys.argv[1])
    json.dump(
        bill(read_lock(lock.read_text()), project_version(Path(__file__).parents[1])), sys.stdout, indent=2
    )
    print()


if __name__ == "__main__":
    main()
