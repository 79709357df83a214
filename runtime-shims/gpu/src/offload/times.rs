//! When kernels ran, and what they cost.

use super::Offload;
use crate::costs;
#[cfg(test)]
use crate::costs::Cost;
use crate::device::Span;
#[cfg(test)]
use crate::mirrors::Moved;
use crate::timeline::{self, Event};
use crate::versions::Version;

/// So many launches are measured before their times are asked for.
pub const MOST_SPANS: usize = 1024;

/// A launch that is measured.
pub struct Launched {
    pub kernel: usize,
    /// Where it is to be found out whether a version is faster.
    pub version: Option<Version>,
    /// Blocks, and work items of a block.
    pub sizes: [[u32; 3]; 2],
    pub span: Span,
    /// When it was asked for.
    pub asked: i64,
}

impl Offload {
    /// Nothing is under way any more.
    pub(super) fn all_is_done(&mut self) {
        self.under_way.clear();
        for one in std::mem::take(&mut self.spans) {
            if let Ok(time) = self.device.milliseconds(one.span) {
                self.kernels[one.kernel].cost.milliseconds += f64::from(time);
                if let Some(version) = one.version {
                    let items = one.sizes.iter().flatten().map(|count| f64::from(*count));
                    version.took(f64::from(time), items.product());
                }
                self.note(&one, f64::from(time));
            }
            self.spare_spans.push(one.span);
        }
        // What is far behind a moment is not known exactly.
        self.spare_spans
            .extend(self.moment.take().map(|(span, _)| span));
    }

    /// Puts a kernel that has run into the timeline.
    fn note(&self, one: &Launched, milliseconds: f64) {
        let (Some(timeline), Some((moment, when))) = (&self.device.timeline, self.moment) else {
            return;
        };
        let kernel = &self.kernels[one.kernel];
        let nanoseconds = |milliseconds: f64| (milliseconds * 1e6) as i64;
        let behind = self.device.behind(one.span, moment).map(f64::from);
        let start = behind.map_or(0, |behind| when + nanoseconds(behind));
        // It cannot have begun before it was asked for.
        let start = start.max(one.asked);
        let event = Event::Kernel {
            name: kernel.name.clone(),
            place: kernel.place.clone(),
            sizes: one.sizes,
        };
        let mut timeline = timeline.borrow_mut();
        timeline.keep(event, start, start + nanoseconds(milliseconds));
    }

    /// A moment of the device's, by which is known when kernels run.
    pub(super) fn moment(&mut self, doing: &str) -> Result<(), String> {
        if self.device.timeline.is_none() || self.moment.is_some() {
            return Ok(());
        }
        let spare = self.spare_spans.pop();
        let span = spare.map_or_else(|| self.device.span(), Ok);
        let span = self.check(doing, span)?;
        let began = self.device.begin(span).and_then(|()| self.device.wait());
        self.check(doing, began)?;
        self.moment = Some((span, timeline::now()));
        Ok(())
    }

    /// What a kernel has cost so far.
    #[cfg(test)]
    pub fn cost(&self, kernel: usize) -> &Cost {
        &self.kernels[kernel].cost
    }

    /// What was copied for all of them so far.
    #[cfg(test)]
    pub fn moved_so_far(&self) -> Moved {
        let mut all = Cost::default();
        self.kernels.iter().for_each(|one| all.add(one.cost.moved));
        all.moved
    }

    /// What kernels cost: when all have run.
    pub fn costs(&self) -> Vec<costs::Row<'_>> {
        let rows = self
            .kernels
            .iter()
            .map(|one| (&*one.name, &*one.place, &one.cost));
        let copies = ("okl_copy", "", &self.copies);
        let copies = (self.copies.launches > 0).then_some(copies);
        rows.chain(copies).collect()
    }
}
