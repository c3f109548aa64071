//! One plugin invoked directly, for a caller that says why it may be.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::error::Result;
use crate::home::Environment;
use crate::json::JsString;
use crate::schema::skill_result::ErrorCode;

use super::attempt::{preflight_failure, runtime_failure};
use super::here::leave_host_thread;
use super::invoke::{Job, UserInitiated};
use super::workers::WorkerSet;
use super::{Engine, Invocation, InvokeOptions, Isolation, Moment, Witness};

impl Engine {
    /// Invokes one plugin directly: no dueness, no denial, no state.
    ///
    /// # Errors
    ///
    /// What cannot be turned into a failed result: an option or witness that is not usable, a config
    /// file that exists and cannot be read, a record that cannot be begun.
    pub async fn invoke(
        self: &Arc<Self>,
        environment: &Environment,
        plugin: &JsString,
        options: &InvokeOptions,
        witness: &Witness,
        operation: u64,
        cancel: &CancellationToken,
    ) -> Result<Invocation> {
        let moment = Moment::new(Arc::new(environment.clone()));
        self.invoke_at(&moment, plugin, options, witness, operation, cancel).await
    }

    /// [`Engine::invoke`] for a call that was made before anything was looked at for this moment.
    ///
    /// Where it is driven on the thread of its host, it goes as far there as takes no time: to the handler of
    /// a plugin that is known and keeps no records, and from its answer to the end.
    ///
    /// # Errors
    ///
    /// As for [`Engine::invoke`].
    pub async fn invoke_at(
        self: &Arc<Self>,
        moment: &Moment,
        plugin: &JsString,
        options: &InvokeOptions,
        witness: &Witness,
        operation: u64,
        cancel: &CancellationToken,
    ) -> Result<Invocation> {
        if options.persist_artifact || options.isolation != Isolation::None {
            leave_host_thread().await;
        }
        let environment = moment.environment();
        let run_id = options.run_id()?;
        let paths = moment.paths(&options.paths)?;
        let clock = options.clock.unwrap_or(self.clock);
        let started = clock.now();
        let (root, isolation) = (&paths.plugins, options.isolation);
        let workers = WorkerSet::open(self, environment, root, isolation, 1, operation);
        let work = async {
            let loading = self.load_one(root, plugin, moment, cancel, &workers);
            let (loaded, module) = match loading.await {
                Ok(loaded) => loaded,
                Err(message) => {
                    let code = ErrorCode::DependencyUnavailable;
                    let result = runtime_failure(plugin, code, message.into());
                    return Ok(preflight_failure(plugin, &run_id, started, clock.now(), result));
                }
            };
            witness.check(plugin, &loaded.manifest)?;
            let job = Job {
                plugin: &loaded,
                paths: &paths,
                environment,
                run_id: &run_id,
                args: &options.args,
                max_retries: options.max_retries.unwrap_or(loaded.manifest.max_retries),
                dependency_runs: &options.dependency_runs,
                artifact: options.persist_artifact.then_some(UserInitiated(options.user_initiated)),
                events: true,
                operation,
                cancel,
                clock,
                workers: &workers,
                met: module.as_deref().map(|module| (moment, module)),
            };
            self.run(&job).await
        };
        workers.around(work).await
    }
}
