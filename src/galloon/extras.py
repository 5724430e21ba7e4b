"""Packages that a client-only install does not have: `advice` says what to install, `require_server` asks early.

`pip install galloon` brings what a client needs. The daemon, the learners and the plots need the packages below;
a command that misses one ends with a sentence instead of a traceback.
"""

from importlib.util import find_spec

# Module by which a package is imported: the extra of `galloon` that installs it.
MODULES = {
    "aiohttp": "server",
    "grpc_health": "server",
    "grpc_reflection": "server",
    "numba": "server",
    "prometheus_client": "server",
    "pynini": "server",
    "pywrapfst": "server",
    "matplotlib": "plots",
    "psycopg": "postgresql",
    "ray": "ray",
}


def advice(module: str | None) -> str | None:
    """What to install so that this module can be imported; None if no extra brings it."""
    name = (module or "").partition(".")[0]
    if name not in MODULES:
        return None
    return f"the package {name} is not installed; install it with: pip install 'galloon[{MODULES[name]}]'"


def require_server() -> None:
    """Raise ModuleNotFoundError unless everything is there that `galloon serve` imports."""
    for name, extra in MODULES.items():
        if extra == "server" and find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
