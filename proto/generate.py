"""Generates the Python code of the wire contract beside the .proto files: `make proto`.

`generate(out)` writes messages and gRPC classes, with type stubs that carry the contract's comments, under
`out/galloon/v1`; a test calls it with an empty folder and compares, so that checked-in code is never stale.
"""

import os
import sys
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent
MESSAGES = ("challenge", "combine", "document", "history", "learners", "spec", "utterance")
SERVICES = ("challenge", "combine", "document", "history", "learners")


def generate(out: Path) -> None:
    """Write the generated code of every .proto file under `out`."""
    # The plugins of mypy-protobuf are programs that lie beside the interpreter.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    _run([f"--python_out={out}", f"--mypy_out=quiet:{out}"], MESSAGES)
    _run([f"--grpc_python_out={out}", f"--mypy_grpc_out=quiet:{out}"], SERVICES)


def _run(outputs: list[str], names: tuple[str, ...]) -> None:
    well_known = files("grpc_tools").joinpath("_proto")
    sources = [f"galloon/v1/{name}.proto" for name in names]
    status = protoc.main(["protoc", f"-I{ROOT}", f"-I{well_known}", *outputs, *sources])
    if status != 0:
        raise SystemExit(f"protoc failed with status {status}")


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
