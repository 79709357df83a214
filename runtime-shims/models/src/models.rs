//! The models. Each has two or three threads, which do one thing each.

mod announcements;
mod collectives;
mod faults;
mod sharing;
mod turns;

use std::time::Duration;

/// How long a thread looks before it sleeps: time is nothing that a model knows.
const PATIENCE: Duration = Duration::ZERO;

/// Runs `body` in all orders in which threads are stopped at most so often where they could go on.
fn explore(stops: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(stops);
    builder.check(body);
}
