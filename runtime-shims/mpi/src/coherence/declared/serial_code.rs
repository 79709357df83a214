//! Serial code on rank 0, and other accesses that were not declared: protections and faults.

use std::rc::Rc;

use super::{bytes_of, limit, pages_inside, pages_touched, plan::by_owner, position};
use crate::{
    coherence::{Access, Coherence, Machine, READ_AHEAD, Run, Violation, WRITE_AHEAD},
    layout::Page,
    page_table::flag,
    sections::ranges::Ranges,
};

impl<M: Machine> Coherence<M> {
    /// On rank 0, before serial code: closes the pages that are not wholly current, and makes writes to
    /// those noticed whose bytes other ranks hold or own.
    pub(crate) fn close_for_serial_code(&mut self) {
        let mode = &mut self.sections;
        if mode.owners.is_empty() {
            return;
        }
        let key = mode
            .owners_id
            .with_signature(mode.valid_id())
            .with_signature(mode.access_id);
        let changes = mode.closings.get(&key).cloned().unwrap_or_else(|| {
            let changes = Rc::new(self.serial_protections());
            limit(&mut self.sections.closings);
            self.sections.closings.insert(key, Rc::clone(&changes));
            changes
        });
        for &(run, access) in changes.iter() {
            self.set_section_access(run, access);
        }
    }

    /// The protections that differ from what serial code needs.
    fn serial_protections(&self) -> Vec<(Run, Access)> {
        let mode = &self.sections;
        let own = mode.owners.of(self.rank);
        let shared = mode
            .owners
            .iter()
            .filter(|one| one.owner == self.rank && one.shared);
        let shared = Ranges::of(shared.map(|one| (one.start, one.end)).collect());
        let current = own.union(&mode.valid);
        let whole_pages = |bytes: &Ranges| {
            let pages = bytes
                .iter()
                .map(pages_inside)
                .filter(|pages| !pages.is_empty());
            Ranges::of(
                pages
                    .map(|pages| (position(pages.start), position(pages.end)))
                    .collect(),
            )
        };
        let readable = whole_pages(&current);
        let noticed = Ranges::of(
            shared
                .iter()
                .map(|range| {
                    let pages = pages_touched(range);
                    (position(pages.start), position(pages.end))
                })
                .collect(),
        );
        let writable = whole_pages(&own).minus(&noticed);
        let closed = mode.owners.all().minus(&readable);
        let mut changes: Vec<(Run, Access)> = Vec::new();
        for (bytes, access) in [
            (closed, Access::None),
            (readable.minus(&writable), Access::Read),
            (writable, Access::Write),
        ] {
            for page in bytes.iter().flat_map(pages_touched) {
                if self.pages.access(page) == access {
                    continue;
                }
                match changes.last_mut() {
                    Some((run, last)) if *last == access && run.first + run.count == page => {
                        run.count += 1;
                    }
                    _ => changes.push((
                        Run {
                            first: page,
                            count: 1,
                        },
                        access,
                    )),
                }
            }
        }
        changes
    }

    /// Serves an access to a page in section mode that was not declared: in serial code, or a read in a
    /// region. The access is allowed afterwards.
    pub(in crate::coherence) fn access_section_page(
        &mut self,
        page: Page,
        write: bool,
    ) -> Result<(), Violation> {
        if self.pages.access(page) == Access::None {
            let most = self.reads.fault_at(page, READ_AHEAD);
            let run = self.section_run(page, most, Access::None);
            let wanted = Ranges::of(vec![bytes_of(run)]);
            let mode = &self.sections;
            let stale = wanted.minus(&mode.valid).minus(&mode.interval.written);
            let mut pieces = mode.owners.within(&stale);
            pieces.retain(|piece| piece.owner != self.rank);
            let copied = pieces.iter().map(|piece| (piece.start, piece.end));
            let valid = mode.valid.union(&Ranges::of(copied.collect()));
            for (owner, ranges) in by_owner(pieces) {
                self.machine.gather(owner, &ranges);
                self.update_twins(&ranges);
            }
            self.counts.pages_fetched += u64::from(run.count);
            self.sections.set_valid(valid);
            self.set_section_access(run, Access::Read);
            self.reads.next = page + run.count;
        }
        if write && self.pages.access(page) == Access::Read {
            if self.sections.declaring || self.rank != 0 {
                return Err(Violation::Undeclared);
            }
            let most = self.writes.fault_at(page, WRITE_AHEAD);
            let run = self.section_run(page, most, Access::Read);
            for written in run.pages() {
                if self.pages.mark(written, flag::DIRTY) {
                    self.dirty.push(written);
                }
            }
            self.set_section_access(run, Access::Write);
            self.writes.next = page + run.count;
        }
        Ok(())
    }

    /// At most `most` pages in section mode from `first` on that have the protection `access`.
    fn section_run(&self, first: Page, most: u32, access: Access) -> Run {
        let most = self.pages.layout().adjacent(first, most);
        let alike = |page: &Page| {
            self.pages.has(*page, flag::SECTION) && self.pages.access(*page) == access
        };
        let count = (first..first + most).take_while(alike).count() as u32;
        Run { first, count }
    }
}
