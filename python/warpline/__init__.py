"""warpline: recurring work by small plugins, planned, recorded, and held back until a person agrees."""

# What the engine needs is imported now: a program may change later where modules are looked for. Each
# name of the others is imported when it is first asked for. `__init__.pyi` says what there is.

try:
    from . import _native
except ImportError as missing:
    # The engine says itself why it does not serve here; else the interpreter names what it looked for.
    if missing.name is None:
        raise
    _why = f"the engine of warpline cannot be loaded: {missing}"
    raise ImportError(f"{_why}; install warpline-runtime anew, for this Python") from missing
from . import _operations  # noqa: F401

#: The version of the package and of the engine in it.
__version__: str = _native.__version__

#: The module that each name is in.
_PLACES = {
    name: module
    for module, names in {
        "_calls": """
        AdvanceResult Invocation Isolation LoadedManifests
    """,
        "_documents": """
        AdvanceStatus Attempt Due EffectLine Granted
        GrantLine LoadFailure Manifest ManifestAction ManifestInput
        ManifestOutput NeedsLlm NotDue NotGranted OutputRecord
        Plan PluginEntry PluginRun PluginState RecordedError
        RecordedOutput RecordedResult RootError RunProfile SkillError
        SkillResult Tier Witness
    """,
        "_engine": """
        CancelSignal
    """,
        "_home": """
        warpline_home
    """,
        "_home_documents": """
        Acknowledgement Acknowledgements BoardEvent CompletedTask DailyLogLine
        Deferral Denial EngineState Grant LastSuccessfulAdvance
        PendingGate PluginConfig Preferences QuietHours RunArtifact
        RunLog Task
    """,
        "_host.capabilities": """
        Caller Capabilities
    """,
        "_host.signal": """
        Signal
    """,
        "_manifest": """
        PluginManifest
    """,
        "_operations": """
        invoke_plugin load_plugin_manifests plan run_advance
    """,
        "_results": """
        skill_failure skill_handoff skill_ok
    """,
        "errors": """
        FileError HostError InvalidDocumentError LockedError NewerStateError
        NotJsonError OptionError PluginRootError SharedHomeError StateLockError
        WarplineError
    """,
    }.items()
    for name in names.split()
}

#: Modules that are there without an import of their own.
_MODULES = ("errors",)

__all__ = sorted(_PLACES)


def __getattr__(name: str) -> object:
    module = name if name in _MODULES else _PLACES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from ._host.late import package

    with package:
        found = import_module(f"{__name__}.{module}")
    value: object = found if name in _MODULES else getattr(found, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
