"""A DAG of Airflow 3 that advances a home. A file for the folder of DAGs, with `one_advance.py` beside it.

The Variables `warpline_home` and `warpline_secrets`, or the environment of the worker
(`AIRFLOW_VAR_WARPLINE_HOME`), say which home. Workers of several machines need a home that all of them see,
on a volume that carries advisory locks; a pool or a queue that leads to one machine does without.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pendulum
from airflow.sdk import DAG, BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowSkipException
from one_advance import one_advance, prepare


class AdvanceOperator(BaseOperator):
    """Advances a home once. Skipped where another advance is at work, failed unless it ends complete."""

    template_fields = ("home", "secrets")

    def __init__(self, *, home: str, secrets: str = "", **options: Any) -> None:
        super().__init__(**options)
        self.home = home
        self.secrets = secrets

    def execute(self, context: Any) -> str:
        prepare(Path(self.home), Path(self.secrets) if self.secrets else None)
        self._stop = threading.Event()
        status = one_advance(self._stop, self.log, alert=self.log.critical)
        if status == "busy":
            raise AirflowSkipException("another advance is at work")
        if status != "complete":
            raise AirflowException(f"the advance ended {status}")
        return status

    def on_kill(self) -> None:
        # The task is ended by hand, by its time limit, or with its worker: what has ended is recorded first.
        self._stop.set()


with (
    DAG(
        dag_id="warpline",
        schedule="*/15 * * * *",
        start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
        catchup=False,  # what is due is decided by `ttl_hours`, and a past quarter of an hour has nothing due
        max_active_runs=1,
    ) as dag
):
    AdvanceOperator(
        task_id="advance",
        home="{{ var.value.warpline_home }}",
        secrets="{{ var.value.get('warpline_secrets', '') }}",
        retries=0,  # retries are warpline's
    )
