"""The Rust side. docs/runspec.md describes what goes in and what comes out."""

def run(specs: list[str]) -> dict[str, bytes]:
    """Runs RunSpecs (JSON) in order; Arrow IPC streams by table name."""

def check(spec: str) -> None:
    """Raises ValueError, its message led by the key's path, for a spec that cannot be run."""

def version() -> str:
    """The version of the package."""

def profiled() -> bool:
    """Whether the engine was built by a profile of itself at work (scripts/fast-engine)."""

def profiles() -> str:
    """JSON: for each stack profile a list of its knobs with name, value and source."""
