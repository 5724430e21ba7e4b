"""What the product reaches: names of its modules, walked from the commands, the documents and `galloon.__all__`.

`unreached()` lists modules, and functions, classes and constants of modules, that nothing in the product uses. It
reads source, runs nothing: a name is reached where reached code mentions it, directly, through an import, or as an
attribute of a module; a string that spells a module of galloon reaches it. Methods count with their class.
`python -m tests.reach` prints the list.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "galloon.daemon": "daemon",
    "galloon.learners": "learners",
    "galloon.clients": "clients",
    "galloon.codec": "proto/codec",
}
ENTRIES = {"galloon": "src/galloon/__init__.py", "galloon.__main__": "src/galloon/__main__.py"}
DOCUMENTS = ("README.md", "docs", "Makefile", "deploy", "Dockerfile")
# Programs for people to read, and so a beginning of their own.
EXAMPLES = ("galloon.clients.examples",)
KERNELS = "galloon.learners.kernels."  # whoever compiles them calls `warm_up` of each by its name
Place = tuple[str, str]  # a module and a name of it; the empty name is what runs when the module is imported


@dataclass(slots=True)
class Module:
    """One file: what each of its names mentions, and where imported names come from."""

    name: str
    uses: dict[str, list[ast.AST]] = field(default_factory=lambda: {"": []})
    imported: dict[str, Place] = field(default_factory=dict)


def unreached() -> list[str]:
    """As `module` or `module.name`, sorted."""
    modules = {name: _read(name, path) for name, path in _files()}
    reached = _walk(modules)
    found = []
    for module in modules.values():
        if module.name in ENTRIES:
            continue
        if (module.name, "") not in reached:
            found.append(module.name)
        else:
            found += [f"{module.name}.{name}" for name in module.uses if (module.name, name) not in reached]
    return sorted(found)


def _files() -> Iterator[tuple[str, Path]]:
    for package, folder in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            yield ".".join([package, *(part for part in parts if part != "__init__")]), path
    yield from ((name, ROOT / path) for name, path in ENTRIES.items())


def _read(name: str, path: Path) -> Module:
    module = Module(name)
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                module.uses.setdefault(statement.name, []).append(statement)
                if any(_registers(decorator, module) for decorator in statement.decorator_list):
                    module.uses[""].append(ast.Name(statement.name, ast.Load()))
            case ast.Assign(targets=targets) if all(isinstance(each, ast.Name) for each in targets):
                for target in targets:
                    assert isinstance(target, ast.Name)
                    module.uses.setdefault(target.id, []).append(statement.value)
            case ast.AnnAssign(target=ast.Name(id=target)):
                module.uses.setdefault(target, []).append(statement)
            case ast.Import() | ast.ImportFrom():
                pass
            case _:
                module.uses[""].append(statement)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module=str(source), level=0) if source.startswith("galloon"):
                for alias in node.names:
                    module.imported[alias.asname or alias.name] = (source, alias.name)
            case ast.Import():
                for alias in node.names:
                    if alias.asname and alias.name.startswith("galloon"):
                        module.imported[alias.asname] = (alias.name, "")
    for dunder in [each for each in module.uses if each.startswith("__")]:
        module.uses[""] += module.uses.pop(dunder)
    return module


def _registers(decorator: ast.expr, module: Module) -> bool:
    """Whether it hands the function to something that the module made before, as a command to its group."""
    if not isinstance(decorator, ast.Call | ast.Attribute):
        return False
    root: ast.expr = decorator
    while isinstance(root, ast.Call | ast.Attribute):
        root = root.func if isinstance(root, ast.Call) else root.value
    return isinstance(root, ast.Name) and root.id in module.uses


def _walk(modules: dict[str, Module]) -> set[Place]:
    waiting: list[Place] = [("galloon", ""), ("galloon.__main__", ""), *_documented(modules)]
    waiting += [(name, each) for name in modules if name.startswith(EXAMPLES) for each in modules[name].uses]
    waiting += [("galloon.__main__", name) for name in modules["galloon.__main__"].uses]
    waiting += [("galloon", name) for name in modules["galloon"].uses]
    reached: set[Place] = set()
    seen: set[Place] = set()
    while waiting:
        place = waiting.pop()
        module = modules.get(place[0])
        if module is None or place in seen:
            continue
        seen.add(place)
        name = place[1]
        if name in module.imported and name not in module.uses:
            waiting.append(module.imported[name])  # a name that a package hands on
            continue
        if f"{place[0]}.{name}" in modules:
            waiting.append((f"{place[0]}.{name}", ""))
        if name not in module.uses:
            continue
        reached.add(place)
        if place[0].startswith(KERNELS) and "warm_up" in module.uses:
            waiting.append((place[0], "warm_up"))
        waiting.append((place[0], ""))
        parts = place[0].split(".")
        waiting += [(".".join(parts[:length]), "") for length in range(1, len(parts))]
        for part in module.uses[name]:
            waiting += _mentioned(part, module, modules)
    return reached


def _mentioned(part: ast.AST, module: Module, modules: dict[str, Module]) -> Iterator[Place]:
    for node in ast.walk(part):
        match node:
            case ast.Name(id=name) if name in module.uses:
                yield module.name, name
            case ast.Name(id=name) if name in module.imported:
                yield module.imported[name]
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in module.imported:
                source, original = module.imported[name]
                yield f"{source}.{original}" if original else source, attribute
            case ast.ImportFrom(module=str(source)) if source.startswith("galloon"):
                yield from ((source, alias.name) for alias in node.names)
            case ast.Constant(value=str(text)) if text.startswith("galloon."):
                yield from _spelled(text, modules)
            case ast.JoinedStr(values=values):
                yield from _spelled("".join(_written(each, module) for each in values), modules)
            case ast.Tuple(elts=[ast.Constant(value=str(source)), ast.Constant(value=str(name)), *_]):
                yield source, name
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                        yield str(value.value), str(key.value)


def _written(part: ast.expr, module: Module) -> str:
    """A part of an f-string: its words, or the string that a constant of the module holds."""
    match part:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(value=ast.Name(id=name)):
            constant = module.uses.get(name, [None])[0]
            return str(constant.value) if isinstance(constant, ast.Constant) else "?"
    return "?"


def _spelled(text: str, modules: dict[str, Module]) -> Iterator[Place]:
    """A string that names a module, or a name of one after a colon or a dot."""
    owner, _, name = text.replace(":", ".").rpartition(".")
    for place in ((text, ""), (owner, name)):
        if place[0] in modules:
            yield place


def _documented(modules: dict[str, Module]) -> Iterator[Place]:
    """What documents import, run with `python -m`, or name in full."""
    for text in _texts(DOCUMENTS):
        for source, names in re.findall(r"from (galloon[\w.]*) import \(?([\w, \n]+)", text):
            yield from ((source, name.strip()) for name in names.split(","))
        for source in re.findall(r"-m (galloon[\w.]+)", text):
            yield source, ""
            yield f"{source}.__main__", ""
        for source in re.findall(r"galloon\.[\w.:]+\w", text):
            yield from _spelled(source, modules)


def _texts(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        path = ROOT / name
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and file.suffix in {"", ".md", ".py", ".toml", ".yaml", ".yml"}:
                yield file.read_text(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    print("\n".join(unreached()))
