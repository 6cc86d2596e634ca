"""A copy of pegasos_lib without the functions that a problem asks for.

What is not in the copy cannot be imported, reloaded, found by gc, or read from the disk.
"""

import ast
import functools
import importlib.util
import py_compile
import shutil
from collections import defaultdict
from pathlib import Path

PACKAGE = "pegasos_lib"
MESSAGE = "{} is not there while this set is graded: this problem asks you to write it"
Name = tuple[str, str]  # a module, and what it defines at its top level


class NotThere(LookupError):
    """A name to hide that the library does not have."""


def write_copy(folder: Path, hides: list[str]) -> None:
    """Write the library into a folder, compiled, without what the dotted names stand for.

    The helpers of what is hidden go with it: what nothing else uses, unless the package itself
    offers it. The package's names are imported when they are asked for, which spares
    every worker the start of SciPy.

    Raises
    ------
    NotThere
        If the library has nothing of such a name.
    """
    source = Path(importlib.util.find_spec(PACKAGE).origin).parent
    library = _library(source)
    functions, methods = library.resolve(hides)
    functions = library.with_helpers(functions)
    target = folder / PACKAGE
    target.mkdir(parents=True)
    shutil.copytree(source / "data", target / "data")
    for path in sorted(source.glob("*.py")):
        copied = target / path.name
        remover = _Remover(library, path.stem, functions, methods)
        if remover.has_work():
            tree = remover.remove(ast.parse(path.read_bytes()))
            copied.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
            _compile(copied)
        else:
            shutil.copy2(path, copied)
            compiled = Path(importlib.util.cache_from_source(path))
            if compiled.exists():  # as old as its source, which keeps its time
                there = Path(importlib.util.cache_from_source(copied))
                there.parent.mkdir(exist_ok=True)
                shutil.copy2(compiled, there)
            else:
                _compile(copied)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def _compile(path: Path) -> None:
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(path), doraise=True, invalidation_mode=mode)


@functools.cache
def _library(source: Path) -> "_Library":
    return _Library({p.stem: ast.parse(p.read_bytes()) for p in sorted(source.glob("*.py"))})


class _Library:
    """Which module defines what, and what uses it."""

    def __init__(self, trees: dict[str, ast.Module]):
        self.defined: dict[Name, ast.stmt] = {}
        self.imported: dict[Name, Name] = {}
        for module, tree in trees.items():
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    self.defined[module, node.name] = node
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
                    for alias in node.names:
                        here = module, alias.asname or alias.name
                        self.imported[here] = node.module, alias.name
        self.exported = {self.origin(name) for name in self.imported if name[0] == "__init__"}
        self.users: dict[Name, set[Name]] = defaultdict(set)
        for module, tree in trees.items():
            for node in tree.body:
                user = module, getattr(node, "name", "")
                for used in self._used_in(module, node):
                    if used != user:
                        self.users[used].add(user)

    def _used_in(self, module: str, node: ast.stmt) -> set[Name]:
        used = set()
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                used.add(self.origin((module, part.id)))
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                used.add((part.value.id, part.attr))
        return used & self.defined.keys()

    def origin(self, name: Name) -> Name:
        """Return where a name of a module comes from."""
        while name in self.imported:
            name = self.imported[name]
        return name

    def resolve(self, hides: list[str]) -> tuple[set[Name], set[tuple[Name, str]]]:
        """Return the functions and classes, and the methods, that dotted names stand for."""
        functions, methods = set(), set()
        for dotted in hides:
            package, *parts = dotted.split(".")
            modules = {module for module, _ in self.defined}
            module = parts.pop(0) if len(parts) > 1 and parts[0] in modules else "__init__"
            found = self.origin((module, parts[0])) if parts else None
            if package != PACKAGE or found not in self.defined or len(parts) > 2:
                raise NotThere(f"there is no {dotted} to hide")
            if len(parts) == 1:
                functions.add(found)
                continue
            inner = [getattr(node, "name", "") for node in getattr(self.defined[found], "body", [])]
            if parts[1] not in inner:
                raise NotThere(f"there is no {dotted} to hide")
            methods.add((found, parts[1]))
        return functions, methods

    def with_helpers(self, hidden: set[Name]) -> set[Name]:
        """Return the hidden functions with those that only these use, and no reader is shown."""
        hidden = set(hidden)
        while True:
            more = {
                name
                for name, users in self.users.items()
                if name not in hidden | self.exported and users <= hidden
            }
            if not more:
                return hidden
            hidden |= more


class _Remover(ast.NodeTransformer):
    """Takes definitions out of a module; what uses them gets a function that says so."""

    def __init__(self, library, module, functions, methods):
        self.module, self.functions, self.methods = module, functions, methods
        here = [name for mod, name in [*library.defined, *library.imported] if mod == module]
        self.gone = {name for name in here if library.origin((module, name)) in functions}
        self.library = library
        self.bound: list[set[str]] = []

    def has_work(self) -> bool:
        """Tell whether the module has to change at all."""
        ours = any(module == self.module for (module, _), _ in self.methods)
        return ours or bool(self.gone) or self.module == "__init__"

    def remove(self, tree: ast.Module) -> ast.Module:
        """Return the module without what is hidden."""
        if self.module == "__init__":
            self._make_lazy(tree)
        else:
            self.visit(tree)
            tree.body += ast.parse(
                f"def __getattr__(name):\n"
                f"{self._gone_or_not()}"
                f"    raise AttributeError(f'module {{__name__!r}} has no attribute {{name!r}}')\n"
            ).body
        return tree

    def _make_lazy(self, tree: ast.Module) -> None:
        imported = self.library.imported.items()
        where = {name: of for (module, name), (of, _) in imported if module == "__init__"}
        (listed,) = (node.value for node in tree.body if _is_all(node))
        names = [name for name in ast.literal_eval(listed) if name not in self.gone]
        text = (
            f"import importlib\n"
            f"_where = {where!r}\n"
            f"__all__ = {names!r}\n"
            f"def __getattr__(name):\n"
            f"{self._gone_or_not()}"
            f"    if name in _where:\n"
            f"        module = importlib.import_module(__name__ + '.' + _where[name])\n"
            f"        return globals().setdefault(name, getattr(module, name))\n"
            f"    raise AttributeError(f'module {{__name__!r}} has no attribute {{name!r}}')\n"
        )
        tree.body = tree.body[:1] + ast.parse(text).body

    def _gone_or_not(self) -> str:
        """Return the code that gives for a hidden name what refuses when it is called.

        An import alone, of what is not used, costs no points.
        """
        return (
            f"    if name in {sorted(self.gone)!r}:\n"
            f"        def gone(*_, **__):\n"
            f"            raise ImportError({MESSAGE!r}.format(__name__ + '.' + name))\n"
            f"        return gone\n"
        )

    def visit_ImportFrom(self, node):
        if node.level == 1 and node.module:
            for alias in node.names:
                name = alias.asname or alias.name
                if name in self.gone:
                    alias.name, alias.asname = _gone(alias.name), _gone(name)
        return node

    def visit_FunctionDef(self, node):
        if not self.bound and (self.module, node.name) in self.functions:
            return _stub(node.name, self.module)
        own = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
        own |= {
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        }
        self.bound.append(own)
        self.generic_visit(node)
        self.bound.pop()
        return node

    def visit_ClassDef(self, node):
        if (self.module, node.name) in self.functions:
            stub = _stub("__init__", self.module, f"{self.module}.{node.name}")
            stub.name = "__init__"
            return ast.ClassDef(_gone(node.name), [], [], [stub], [])
        self.bound.append(set())
        self.generic_visit(node)
        self.bound.pop()
        for part in node.body:
            if ((self.module, node.name), getattr(part, "name", "")) in self.methods:
                full = f"{PACKAGE}.{node.name}.{part.name}"
                part.body = [_refusal(full)]
        return node

    def visit_Name(self, node):
        if node.id in self.gone and not any(node.id in own for own in self.bound):
            node.id = _gone(node.id)
        return node

    def visit_Assign(self, node):
        if _is_all(node):
            node.value.elts = [e for e in node.value.elts if e.value not in self.gone]
        return self.generic_visit(node)


def _is_all(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def _gone(name: str) -> str:
    return f"_hidden_{name}"


def _refusal(full_name: str) -> ast.stmt:
    return ast.parse(f"raise ImportError({MESSAGE.format(full_name)!r})").body[0]


def _stub(name: str, module: str, full_name: str = "") -> ast.FunctionDef:
    (made,) = ast.parse(f"def {_gone(name)}(*_, **__): ...").body
    made.body = [_refusal(f"{PACKAGE}.{full_name or module + '.' + name}")]
    return made
