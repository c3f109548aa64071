"""Imports the modules of plugins, each plugin in a package of its own.

Two plugins may both have a `helpers.py`. Every revision of a plugin gets a package name that nothing
else has; inside it, `import helpers`, `from . import helpers` and `import_module("helpers")` mean the
plugin's own file. Nothing is written into a plugin's directory, and no compiled file found there is
believed.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import itertools
import os
import sys
import threading
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, Mapping, Optional, Sequence

from .late import after_import, before_import

#: What the name of every plugin package begins with.
PREFIX = "_warpline_plugin_"

#: The files that a plugin begins with, without their ending: what is beside them is no package of that
#: name.
ENTRIES = ("manifest", "handler")

#: How much is read of a file at once, in bytes.
CHUNK = 64 * 1024

_real_import = builtins.__import__
_real_import_module = importlib.import_module


class _Package:
    """One revision of one plugin."""

    def __init__(self, name: str, directory: str) -> None:
        self.name = name
        self.directory = directory
        #: What its modules see as builtins: the same, but for how they import.
        self.builtins: dict[str, Any] = {**vars(builtins), "__import__": self._import}

    def _import(
        self,
        name: str,
        globals: Optional[Mapping[str, object]] = None,
        locals: Optional[Mapping[str, object]] = None,
        fromlist: Optional[Sequence[str]] = (),
        level: int = 0,
    ) -> ModuleType:
        head = name.partition(".")[0]
        if level > 0:
            return _real_import(name, globals, locals, fromlist or (), level)
        if not self.has(name):
            before_import(name)
            module = _real_import(name, globals, locals, fromlist or (), level)
            after_import()
            return module
        module = _real_import(f"{self.name}.{name}", globals, locals, fromlist or (), 0)
        return module if fromlist else sys.modules[f"{self.name}.{head}"]

    def has(self, name: str) -> bool:
        """Whether an absolute import of this name means a module of the plugin."""
        head = name.partition(".")[0]
        if head in ("", "warpline", "__future__") or head in sys.builtin_module_names:
            return False
        path = os.path.join(self.directory, head)
        if os.path.isfile(f"{path}.py") or os.path.isfile(os.path.join(path, "__init__.py")):
            return True
        # A plain folder is a package only where nothing else has the name, as anywhere in Python.
        return (
            os.path.isdir(path)
            and head not in sys.modules
            and importlib.util.find_spec(head) is None
        )

    def spec(self, fullname: str) -> Optional[ModuleSpec]:
        """Where a module of this package is; None for one that is not there."""
        parts = fullname.split(".")[1:]
        path = os.path.join(self.directory, *parts)
        if len(parts) == 1 and parts[0] in ENTRIES and os.path.isfile(f"{path}.py"):
            return self._source(fullname, f"{path}.py", None)
        init = os.path.join(path, "__init__.py")
        if os.path.isfile(init):
            return self._source(fullname, init, [path])
        if parts and os.path.isfile(f"{path}.py"):
            return self._source(fullname, f"{path}.py", None)
        if os.path.isdir(path):
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [path]
            return spec
        return None

    def _source(self, fullname: str, file: str, inside: Optional[list[str]]) -> ModuleSpec:
        spec = _Spec(fullname, _Loader(fullname, file, self), origin=file)
        spec.has_location = True
        spec.submodule_search_locations = inside
        return spec


class _Spec(ModuleSpec):
    """Where a module is. No compiled file belongs to it, and none is looked for."""

    cached = None


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, package: _Package) -> None:
        super().__init__(fullname, path)
        self._package = package

    def get_code(self, fullname: str) -> CodeType:
        path = self.path
        code: CodeType = compile(_bytes(path), path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        module.__dict__["__builtins__"] = self._package.builtins
        exec(code, module.__dict__)


def _bytes(path: str) -> bytes:
    """What a file holds; in fewer steps than a file object takes."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.read(descriptor, CHUNK)
        if len(data) < CHUNK and not os.read(descriptor, 1):
            return data
        with open(descriptor, "rb", closefd=False) as file:
            file.seek(0)
            return file.read()
    finally:
        os.close(descriptor)


class _Finder:
    def __init__(self) -> None:
        self.packages: dict[str, _Package] = {}

    def find_spec(
        self,
        fullname: str,
        path: Optional[Sequence[str]],
        target: Optional[ModuleType] = None,
    ) -> Optional[ModuleSpec]:
        package = self.packages.get(fullname.partition(".")[0])
        return package.spec(fullname) if package else None


def _import_module(name: str, package: Optional[str] = None) -> ModuleType:
    """Stands for `importlib.import_module`: a plugin's own code gets its own module, all others what
    they always got."""
    caller = str(sys._getframe(1).f_globals.get("__name__", ""))
    plugin = _finder.packages.get(caller.partition(".")[0])
    if plugin is None:
        return _real_import_module(name, package)
    if not plugin.has(name):
        before_import(name)
        module = _real_import_module(name, package)
        after_import()
        return module
    return _real_import_module(f"{plugin.name}.{name}")


_finder = _Finder()
_names: dict[tuple[str, str], str] = {}
_numbers = itertools.count(1)
_lock = threading.Lock()


def import_plugin_file(plugin: Mapping[str, str], file: str) -> ModuleType:
    """Imports a file of a plugin (`{name, directory, revision}`), once for each revision."""
    directory = plugin["directory"]
    package = _package_name(directory, plugin["revision"])
    name = f"{package}.{file[:-3]}"
    try:
        return _real_import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in (name, package):
            raise
        raise ImportError(f"there is no {os.path.join(directory, file)}") from None


def _package_name(directory: str, revision: str) -> str:
    with _lock:
        if _finder not in sys.meta_path:
            sys.meta_path.insert(0, _finder)
            # Through setattr: to a type checker, modules do not change.
            setattr(importlib, "import_module", _import_module)  # noqa: B010
        name = _names.get((directory, revision))
        if name is None:
            name = f"{PREFIX}{next(_numbers)}"
            package = _finder.packages[name] = _Package(name, directory)
            spec = package.spec(name)
            if spec is not None and spec.loader is None:
                # Nothing of it is run: it is there at once.
                sys.modules[name] = importlib.util.module_from_spec(spec)
            _names[(directory, revision)] = name
        return name


def after_fork() -> None:
    """The lock may have been held by a thread that is not in the child. So may that of a module which was
    half imported: the child imports everything anew, under names of its own."""
    global _lock
    _lock = threading.Lock()
    _names.clear()
