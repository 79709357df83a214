//! The models. Each has two or three threads, which do one thing each.

mod announcements;
mod collectives;
mod faults;
mod sharing;
mod turns;

use std::{sync::Arc, time::Duration};

use crate::primitives::{Fences, set_fences};

/// How long a thread looks before it sleeps: time is nothing that a model knows.
const PATIENCE: Duration = Duration::ZERO;

/// Runs `body` in all orders in which threads are stopped at most so often where they could go on.
fn explore(stops: usize, body: impl Fn() + Sync + Send + 'static) {
    let body = Arc::new(body);
    for fences in [Fences::InFront, Fences::Behind] {
        set_fences(fences);
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(stops);
        let body = Arc::clone(&body);
        builder.check(move || body());
    }
}
