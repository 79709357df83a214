//! `OKL_TRACE`: one line for each event on standard error.
//!
//! The lines hold no times, so that those of two runs can be compared; a timeline has the times.

use super::{Event, Extent, Place};
use crate::{mpi_job, report, settings::asked};
use okl_coherence::PAGE;

/// Prints the event if it is asked for.
pub(super) fn tell(event: &Event, asked: u64) {
    if asked & class(event) == 0 {
        return;
    }
    let is_first = mpi_job::rank() == 0;
    if let Some(text) = text(event, super::region(), is_first, &super::object_at_position) {
        report::warn(&text);
    }
}

/// What an event belongs to.
fn class(event: &Event) -> u64 {
    match event {
        Event::Fork { .. }
        | Event::Region { .. }
        | Event::Barrier(_)
        | Event::Join(_)
        | Event::Reduction(_)
        | Event::Lock { .. } => asked::SYNC,
        Event::Copy { .. }
        | Event::Send { .. }
        | Event::Fetch { .. }
        | Event::Diff { .. }
        | Event::Leave { .. } => asked::DATA,
        Event::Fault { .. } => asked::FAULTS,
        Event::Idle | Event::Waiting | Event::Declaration(_) => 0,
    }
}

/// The event in words, in the region at `region_at`. `None`: there is nothing to say, on the first rank or on the others.
fn text(
    event: &Event,
    region_at: &'static str,
    is_first: bool,
    object_at: &dyn Fn(u64) -> String,
) -> Option<String> {
    let count = |number: u64, what: &str| match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    let region = &Place::Text(region_at).text()[..];
    let page_at = |page: u32| object_at(u64::from(page) * PAGE as u64);
    let size = |what: Extent| {
        let (bytes, pieces) = (
            count(what.bytes, "byte"),
            count(what.pieces.into(), "piece"),
        );
        format!("{bytes} in {pieces}")
    };
    let objects = |what: Extent| match what.pieces {
        1 => object_at(what.first),
        _ => format!("{} to {}", object_at(what.first), object_at(what.last)),
    };
    Some(match *event {
        Event::Fork {
            location,
            threads,
            pages,
            bytes,
        } => {
            let location = report::at(&Place::Text(location).text());
            let pages = match pages {
                0 => String::new(),
                pages => format!(", {} among them", count(pages.into(), "page")),
            };
            format!(
                "fork of the region {location} to {threads} threads: {bytes} bytes to each rank{pages}"
            )
        }
        Event::Region {
            location,
            thread,
            threads,
        } => {
            let location = report::at(&Place::Text(location).text());
            if threads == 1 {
                format!("the region {location} runs as a team of one")
            } else if is_first {
                return None;
            } else if thread < threads {
                format!("enters the region {location} as thread {thread} of {threads}")
            } else {
                format!("stays outside the region {location}")
            }
        }
        Event::Barrier(at) => format!("barrier {}", report::at(&at.text())),
        Event::Join(location) => {
            let location = Place::Text(location).text();
            format!("end of the region {}", report::at(&location))
        }
        Event::Reduction(at) => format!("reduction {}", report::at(&at.text())),
        Event::Lock { key, at } => format!("lock {key:#x} {}", report::at(&at.text())),
        Event::Copy {
            from,
            was_sent,
            what,
        } => {
            let (size, objects) = (size(what), objects(what));
            match was_sent {
                false => format!("copies {size} from rank {from}: {objects}, in {region}"),
                true => format!("takes {size} from what rank {from} sent: {objects}, in {region}"),
            }
        }
        Event::Send { to, what } => {
            let (size, objects) = (size(what), objects(what));
            format!("sends {size} to rank {to} unasked: {objects}, in {region}")
        }
        Event::Fetch { from, first, pages } => format!(
            "fetches {} from rank {from}: {}, in {region}",
            count(pages.into(), "page"),
            page_at(first)
        ),
        Event::Fault {
            address,
            code,
            write,
        } => format!(
            "{} fault {}: {}",
            if write { "write" } else { "read" },
            report::at(&Place::Code(code).text()),
            super::object_at(address),
        ),
        Event::Diff { page, bytes, to } => format!(
            "sends {} home to rank {to}: page at {}, in {region}",
            count(bytes.into(), "changed byte"),
            page_at(page)
        ),
        Event::Leave {
            first,
            pages,
            some,
            last,
        } => {
            let why = match some {
                true => "accesses them undeclared",
                false => "does not declare what it accesses",
            };
            let last = match last {
                true => "; as this happens often no page will enter it again",
                false => "",
            };
            let pages = match pages {
                1 => "1 page leaves".to_owned(),
                pages => format!("{pages} pages leave"),
            };
            format!(
                "{pages} section mode, from {} on: the region {} {why}{last}",
                page_at(first),
                report::at(region)
            )
        }
        Event::Idle | Event::Waiting | Event::Declaration(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(event: Event) -> String {
        let object_at = |position| format!("a + {position}");
        text(&event, "x.c:7", false, &object_at).expect("something to tell")
    }

    #[test]
    fn events_read_as_sentences() {
        let copy = |ranges| told(Event::copy(2, ranges));
        for (text, expected) in [
            (
                copy(&[(8, 9)]),
                "copies 1 byte in 1 piece from rank 2: a + 8, in x.c:7",
            ),
            (
                copy(&[(8, 16), (32, 64)]),
                "copies 40 bytes in 2 pieces from rank 2: a + 8 to a + 32, in x.c:7",
            ),
            (
                told(Event::taken(0, &[(0, (8, 16)), (8, (32, 64))])),
                "takes 40 bytes in 2 pieces from what rank 0 sent: a + 8 to a + 32, in x.c:7",
            ),
            (
                told(Event::of_protocol(&okl_coherence::Event::Send {
                    to: 1,
                    ranges: &[(8, 16)],
                })),
                "sends 8 bytes in 1 piece to rank 1 unasked: a + 8, in x.c:7",
            ),
            (
                told(Event::Fetch {
                    from: 0,
                    first: 2,
                    pages: 3,
                }),
                "fetches 3 pages from rank 0: a + 8192, in x.c:7",
            ),
            (
                told(Event::Diff {
                    page: 1,
                    bytes: 24,
                    to: 3,
                }),
                "sends 24 changed bytes home to rank 3: page at a + 4096, in x.c:7",
            ),
            (
                told(Event::Barrier(Place::Text("in function f (prog)"))),
                "barrier in function f (prog)",
            ),
            (
                told(Event::Fork {
                    location: "x.c:7",
                    threads: 4,
                    pages: 1,
                    bytes: 5120,
                }),
                "fork of the region at x.c:7 to 4 threads: 5120 bytes to each rank, 1 page among them",
            ),
            (
                told(Event::Leave {
                    first: 1,
                    pages: 12,
                    some: false,
                    last: true,
                }),
                "12 pages leave section mode, from a + 4096 on: the region at x.c:7 does not declare \
                 what it accesses; as this happens often no page will enter it again",
            ),
        ] {
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn rank_0_tells_of_the_fork_and_not_of_entering() {
        let enters = Event::Region {
            location: "x.c:7",
            thread: 0,
            threads: 2,
        };
        assert_eq!(text(&enters, "x.c:7", true, &|_| String::new()), None);
    }
}
