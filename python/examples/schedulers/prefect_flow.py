"""A Prefect flow that advances a home.

    python prefect_flow.py --home /srv/monitor/.warpline --every 900

Prefect ends a flow run by SIGTERM, which it makes an exception on the main thread, and warpline records
what has ended before it lets that exception pass. Retries are warpline's: the flow has none.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Optional

from one_advance import arguments, one_advance, prepare
from prefect import flow, get_run_logger
from prefect.states import Completed, Failed, State


@flow(name="advance", retries=0)
def advance(home: Path, secrets: Optional[Path] = None) -> State[str]:
    prepare(home, secrets)
    log = get_run_logger()
    status = one_advance(threading.Event(), log, alert=log.critical)
    if status == "busy":
        return Completed(name="Skipped", message="another advance is at work", data=status)
    if status == "complete":
        return Completed(message=status, data=status)
    # A failed flow run is what automations of Prefect raise an alarm for.
    return Failed(message=f"the advance ended {status}")


if __name__ == "__main__":
    given = arguments()
    home = {"home": given.home.resolve(), "secrets": given.secrets and given.secrets.resolve()}
    advance.serve(name="monitor", interval=given.every, parameters=home, limit=1)
