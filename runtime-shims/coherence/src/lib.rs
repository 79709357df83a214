//! The coherence protocol: how the ranks of a job keep one memory.
//!
//! Every rank has a copy of all shared pages, at the same addresses. **Guarantee:** after a synchronisation every
//! rank that reads a byte gets the value written last before it, provided that no two ranks wrote that byte since
//! the synchronisation before (OpenMP's rule for a program without races) or did so under one lock.
//!
//! Nothing here knows MPI, signals or the kernel's protections. A [`Machine`] is the memory of the ranks, and a
//! [`driver::Rank`] the way to the others; the run time for MPI has one pair of them, the simulated cluster of the
//! tests another.
//!
//! # Words
//!
//! | word | means |
//! |---|---|
//! | page | 4096 bytes, the unit of protection; the same number on every rank |
//! | home | the rank that holds a page's contents whenever no rank has unpublished writes; all ranks know it |
//! | copy | a rank's own bytes of a page or of a section: *current*, or not to be read |
//! | access | what a rank's protection of a page allows: nothing, reading, or writing |
//! | fault | the program touches a page that its access does not allow; the protocol makes it current, or writable |
//! | fetch | a page is copied from its home |
//! | twin | a page as it was before this rank's first write: what differs from it was written |
//! | diff | the bytes that so differ, sent to the home |
//! | notice | that a rank wrote a page, sent it home, or fetched it, or that the program freed it: told at the next synchronisation |
//! | news | notices, and what else a rank tells then but declarations |
//! | update | what rank 0 changed in a page in update mode |
//! | contribution | an atomic operation that commutes and whose old value nobody asks for; a rank *contributes* to an object |
//! | collect | contributions to a page wait on their rank, one for each object, until they are combined |
//! | combine | what was collected is put into its objects, where they are held |
//! | release | what a rank wrote is to be read by others that it tells so: by a lock, or an atomic object |
//! | acquire | a rank is to read what others have released |
//! | announce | tell all ranks that the home of a page has new contents: at a release; who acquires drops its copy |
//! | give up | this rank's copy of a page goes back to the machine: the program has freed the page, or others have it, too, and memory is short |
//! | settle | wait until what was sent into other ranks' memory, such as diffs and contributions, has arrived there |
//! | open, close | a page's access is widened to what is current, or taken away, so that what follows faults; *closings* are of all pages, to save mappings, or before accesses that are not declared |
//! | section | the bytes that a loop nest accesses, known from a declaration before it runs |
//! | owner | the rank that has the current value of a byte in section mode; all ranks know it |
//! | valid | bytes of other owners that are current in this rank's copy; only this rank knows them |
//! | claim | bytes that a rank only may have written, as it declared, and did write |
//! | stretch | code of a region that declares its accesses, which declares nothing: the rank that runs it tracks pages meanwhile, or, where it has several threads, until these meet |
//! | plan | what follows from a declaration for this rank: what to copy, from whom, what to open |
//! | transition | what follows from the declarations of all ranks for the owners |
//! | signature | a number that stands for a declaration, a set or a state: what is known by it need not be told |
//! | mark | the program notes, as it writes, which bytes of a declared section it has written: these are *marked* |
//! | pull | declared bytes are copied from their owner, which does nothing for it |
//! | push | bytes that their owner sends unasked, because all ranks predict that they will be copied |
//! | relay | a rank passes on what was pushed to it for others: its part of a tree of ranks |
//! | along | in a message that is sent anyway: a push that goes with what ranks tell when they arrive or leave |
//! | carried | a page whose contents travel with a fork |
//! | interval | from one synchronisation of a region to the next |
//! | fork, join | where a region begins, after serial code on rank 0 alone, and where it ends |
//!
//! # States of a page
//!
//! All ranks know the state of each page and change it alike, since all apply the same notices in the same order.
//!
//! | state | the home | other ranks | leaves it |
//! |---|---|---|---|
//! | exclusive (the first) | reads and writes without faults or notices, but for pages that it sees to be copied when it releases something | have nothing; a read or a write faults, tells the home, and fetches | when another rank's fetch is noticed: shared, and updated where that was so before and rank 0 is the home; when one other rank wrote it: exclusive, with that rank as its home |
//! | shared | reads; the first write is a fault, and noticed | may have copies to read; the first write makes a twin, and is noticed | with one writer: exclusive, with the writer as its home; with several: their diffs go home, and copies are dropped |
//! | updated | rank 0 reads and writes without faults | have copies to read, which rank 0's changed words keep current | when another rank writes it, or rank 0 too much of it: as shared |
//! | section | there is none: each byte has an owner | as below | when a region with direct accesses needs a home, or declarations are of no use: exclusive, with the owner of most of it as its home |
//! | private | the rank whose stack or `threadprivate` data it holds: reads and writes | may fetch a copy to read, until the next synchronisation or acquisition; while they run tasks of other ranks (*guests*) they write it, too, and what changed there goes to the owner when they release something; another write is an error | never |
//!
//! What one rank knows of a page between two synchronisations are flags (`page_table`): that it is *dirty* (written,
//! and not yet sent home), *flushed* (sent home under a lock), *fetched*, *cached*, or *entering* section mode. With
//! `OKL_VERIFY` no page is exclusive, so that every write is seen.
//!
//! # States of a byte in section mode
//!
//! | on its owner | on another rank | means |
//! |---|---|---|
//! | owned alone | not valid | only the owner has it; in a region that declares nothing the owner writes it unnoticed |
//! | owned, shared | valid | that rank has copied it since it was last written |
//! | owned, shared | not valid | some other rank may have a valid copy |
//!
//! A declared read makes bytes valid that were not, by copies from their owners. A declared write makes bytes the
//! writer's own at the next synchronisation, and no longer valid anywhere else; what a rank only may have written
//! is compared with a twin, and becomes its own where no other rank may have written it, or where it claims it.
//!
//! # The order of steps at a synchronisation
//!
//! [`driver::Driver::synchronise`] does this on every rank:
//!
//! 1. Contributions that were collected are *combined* with their objects, at the ranks that hold them.
//! 2. The *header* is made: why the rank is here, and signatures of what it declared and copied. With them claims
//!    are found: from here on the rank writes nothing.
//! 3. The rank *arrives*: pushes that are sure to be wanted begin.
//! 4. *News* are collected. Between nodes, where none are expected, a summary goes up a tree of ranks and down
//!    again. If there are none, and everybody knows what follows from the signatures, steps 5 to 10 send nothing.
//! 5. All ranks *gather* the headers, and in a second message what news do not fit there.
//! 6. The program's side *checks* that the reasons why ranks are here go together, and *opens* the lists that the
//!    others' have enclosed. Then notices are *applied*: each page gets its next state. Where diffs are under way,
//!    all wait at a *barrier* until they have settled. Then updates of rank 0 are applied.
//! 7. *Copies* between nodes are learned from: they are exchanged where they are new.
//! 8. *Declarations* are applied: a transition that is known by its signature is made; else it is found out, from
//!    declarations that are exchanged first where they never were before. Where they are too many each rank sends what it wrote to its owner, and all wait at a
//!    barrier. Then rank 0 hands the pages round that go into update mode.
//! 9. Pages that the program has *freed* are as at the start, and given up.
//! 10. Unless the region has ended, bytes become their expected writers', where threads wait for flags; *pushes* begin,
//!     and what came for others is *relayed*. The program runs on.
//!
//! At a fork ([`driver::Driver::apply_fork`]) rank 0 alone has news, which travel with the region: step 6 for one
//! writer, without a barrier, the contents of a few pages, which are *carried*, and step 9. Then all ranks enter the region
//! ([`driver::Driver::enter_region`]): what does not go with section mode leaves it, and step 10 follows.
//!
//! No rank need be at the same step as another: one may have gone through all of them and run on while another one
//! has yet to apply the notices, as far as collectives let it. So what a rank reads of another's memory in an
//! interval must have been there when that one arrived, or a barrier lies between.

pub mod atomics_values;
mod coherence;
mod contents;
pub mod driver;
pub mod geometry;
#[cfg(test)]
mod layers;
mod layout;
mod page_table;
mod sparse;

pub use coherence::{
    Change, Coherence, Counts, Event, Heard, Machine, Object, Part, Run, TooManyMappings,
    Violation,
    declared::{Accesses, Declared, Mode, directly::Message},
};
pub use contents::Contents;
pub use layout::{Layout, PAGE, Page, Segment, Sizes};
pub use page_table::{Access, PageTable};
