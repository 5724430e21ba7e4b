"""What `import galloon` offers: everything it names is there, typed, and loaded only when it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import galloon


def test_every_public_name_is_there():
    assert all(getattr(galloon, name).__module__.startswith("galloon.") for name in galloon.__all__)
    assert set(galloon.__all__) <= set(dir(galloon))


def test_type_checkers_see_the_same_names_in_the_same_places():
    tree = ast.parse(Path(galloon.__file__).read_text())
    (typed,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        name.asname or name.name: f"{line.module}:{name.name}"
        for line in typed.body
        if isinstance(line, ast.ImportFrom)
        for name in line.names
    }
    found = {}
    for name, place in galloon._PLACES.items():
        module, _, inside = place.partition(":")
        found[name] = f"galloon.{module}:{inside or name}"
    assert seen == found
    assert set(galloon.__all__) == set(found)


def test_importing_galloon_alone_loads_nothing():
    code = (
        "import sys, galloon; print(*[n for n in sys.modules if n.startswith(('galloon.', 'grpc', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
