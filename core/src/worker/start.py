# Starts a worker. After this text come, where a host starts one of its own kind, the directory of its
# package and where it looks for modules.
import sys

sys._xoptions["warpline-worker"] = True
given = sys.argv[1:]
del sys.argv[1:]
if sys.path[:1] == [""]:  # nothing comes from the working directory
    del sys.path[0]
try:
    if given:
        from importlib.util import module_from_spec, spec_from_file_location

        sys.path[:] = given[1:]
        spec = spec_from_file_location(
            "warpline", given[0] + "/__init__.py", submodule_search_locations=given[:1]
        )
        sys.modules["warpline"] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules["warpline"])
    from warpline._worker import main
except ImportError as error:
    missing = isinstance(error, ModuleNotFoundError)
    if not missing or error.name not in ("warpline", "warpline._worker"):
        import json

        reason = json.dumps(" ".join(str(error).split()))
        print('{"kind":"unable","text":' + reason + "}", flush=True)
        sys.exit(1)
    sys.exit(86)
main()
