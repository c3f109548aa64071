"""What a person would write without warpline: import the plugins, call them, keep what they said in one file.

python python.py <plugins> <file>
"""

import importlib.util
import json
import os
import sys
from datetime import datetime, timezone
from types import ModuleType


def load(directory: str, name: str, file: str) -> ModuleType:
    path = os.path.join(directory, name, f"{file}.py")
    spec = importlib.util.spec_from_file_location(f"{name}_{file}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    root, target = sys.argv[1:]
    state = {}
    for name in sorted(os.listdir(root)):
        manifest = load(root, name, "manifest").manifest
        result = load(root, name, "handler").handler(manifest, {}, None, None)
        now = datetime.now(timezone.utc).isoformat()
        state[name] = {"last_run_at": now, "result": result}
    with open(target, "w") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())


main()
