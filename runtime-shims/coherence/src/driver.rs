//! The driver of a synchronisation: all steps at which ranks exchange what they did, in their order.
//!
//! Guarantee: between two synchronisations no rank's copy of a page changes but through its own
//! accesses, locks and atomics. A fork carries rank 0's notices and the hottest pages in one broadcast; every
//! other synchronisation is one all-gather, with a second for notices that do not fit the header, one for
//! declarations of sections that are not like earlier ones, and a barrier where changed bytes travel. Between
//! nodes those without news cost less: `brief`.
//!
//! Each rank has one [`Driver`], and shows it its side of the job as a [`Rank`]: in a program, MPI and the
//! program's memory; in tests, threads that run ahead of each other. Nothing here knows which it is.

mod brief;
mod news;
pub mod tree;

use crate::{
    coherence::{
        Coherence, Machine, Notices, Phase,
        declared::{Accesses, Along},
    },
    geometry::signature::Signature,
    layout::{PAGE, Page},
};
use brief::Summary;
use news::{LISTS, News, UPDATES};

/// How ranks reach each other. All of them call the collective ones in the same order.
pub trait Collectives {
    /// This rank.
    fn rank(&self) -> u32;
    /// The number of ranks.
    fn ranks(&self) -> u32;
    /// Gathers `mine` from every rank, in rank order, into `all`. Collective.
    fn all_gather(&mut self, mine: &[u64], all: &mut [u64]);
    /// Gathers parts of different lengths: `lengths[r]` words from rank `r`, in rank order. Collective.
    fn all_gather_parts(&mut self, mine: &[u64], lengths: &[usize]) -> Vec<u64>;
    /// Hands any number of words of rank 0 round, which does not wait for the others. Collective, and only
    /// where there is no tree.
    fn broadcast(&mut self, words: &mut Vec<u64>);
    /// Hands the contents of pages of rank 0 round, which does not wait for the others. Collective.
    fn broadcast_pages(&mut self, contents: &mut [u8]);
    /// Waits for all ranks: what they sent to each other's memory has arrived. Collective.
    fn barrier(&mut self);
    /// Whether ranks are on several nodes, and may synchronise in the [`tree`].
    fn has_tree(&self) -> bool;
    /// In the tree: sends `words` to `rank`, which [receives](Collectives::receive) them. The last of them are
    /// `data` bytes of the program's.
    fn send(&mut self, words: &[u64], data: usize, rank: u32);
    /// In the tree: what `rank` sends next to this one.
    fn receive(&mut self, rank: u32) -> Vec<u64>;
    /// In the tree: [sends](Collectives::send) while `rank` sends something to this one, which is this.
    fn exchange(&mut self, words: &[u64], data: usize, rank: u32) -> Vec<u64>;
}

/// What a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// The other ranks of its team.
    ForTeam,
    /// The next region.
    ForRegion,
}

/// Lists of words that the program's side of ranks adds to what they tell each other. The driver does not know
/// what is in them.
pub type Enclosed = [Vec<u64>; 4];

/// One rank, as a synchronisation sees it.
pub trait Rank: Collectives {
    /// What is under the protocol.
    type Machine: Machine;
    /// Lends this rank's part of the protocol. While the rank waits for others it is not lent.
    fn coherence<R>(&mut self, body: impl FnOnce(&mut Coherence<Self::Machine>) -> R) -> R;
    /// Runs `body`, in which this rank does nothing but wait, and which says at the end for what it did.
    fn waiting<R>(&mut self, body: impl FnOnce(&mut Self) -> (R, Waits)) -> R;
    /// Looks at `done` until it is.
    fn wait_until(&mut self, done: impl FnMut(&mut Self) -> bool);
    /// What the program's side of this rank tells that of the others.
    fn enclose(&mut self) -> Enclosed;
    /// What it is told, at a synchronisation other than a fork, by all ranks in their order.
    fn open(&mut self, all: &[Enclosed]);
    /// At a synchronisation: why the ranks are here, in their order. Does not return where they differ in a way
    /// that is an error.
    fn check(&mut self, mine: Kind, all: &[Kind]);
    /// Whether this rank accessed, since it was asked last, sections that lie so far apart that pages serve it
    /// better.
    fn take_apart(&mut self) -> bool;
    /// The same on all ranks: from its next execution on the region that runs is one that declares nothing.
    fn declare_nothing(&mut self);
    /// The same on all ranks: from its next execution on the pages of the region that runs are tracked.
    fn track_pages(&mut self);
    /// The same on all ranks: the region that runs tells nothing from here on.
    fn stop_declaring(&mut self);
}

/// Why a rank synchronises. All members of a team must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Kind {
    /// The region goes on.
    Barrier = 1,
    /// The region ends, if it does for all.
    Join = 2,
    /// A rank outside the team takes part in the exchange.
    Passive = 3,
    /// Payloads are handed round; the region goes on.
    Exchange = 4,
}

impl Kind {
    fn of(word: u64) -> Self {
        match word {
            1 => Self::Barrier,
            2 => Self::Join,
            3 => Self::Passive,
            4 => Self::Exchange,
            _ => panic!("no synchronisation has the kind {word}"),
        }
    }
}

/// Words of a header: kind, payload, what stands for the rank's declared sections and the number of words
/// that describe them, the same for what it copied from other nodes, more about the sections, list lengths,
/// then as many words of the lists as fit.
const HEADER: usize = 39;
const HEADER_DECLARED: usize = 2;
const HEADER_DECLARATIONS: usize = 4;
const HEADER_COPIED: usize = 5;
const HEADER_COPIES: usize = 7;
/// Whether pages of the rank enter section mode, whether sections that it accesses lie apart, and whether its
/// signature is without claims.
const HEADER_FLAGS: usize = 8;
const ENTERS: u64 = 1;
const APART: u64 = 2;
const OMITS: u64 = 4;
/// How many of the words that describe sections are claims.
const HEADER_CLAIMS: usize = 9;
const HEADER_LENGTHS: usize = 10;
const HEADER_RUNS: usize = HEADER_LENGTHS + LISTS;

/// Words of a fork's message before the program's own: the lists' lengths, and the numbers of the program's
/// words and of pages, with `SILENT`. Then come the program's words, the lists, and the carried pages.
const FORK_COUNTS: usize = LISTS;
const FORK_BODY: usize = FORK_COUNTS + 1;
const SILENT: u64 = 1 << 63;

/// What ranks met with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// The payloads of all ranks, in rank order; none where no rank had news.
    pub payloads: Vec<u64>,
    /// Whether the whole team has joined.
    pub joined: bool,
}

/// A fork on its way through the ranks.
pub struct Fork {
    news: News,
    carried: Vec<Page>,
    /// Serial code wrote nothing in section mode.
    is_silent: bool,
}

impl Fork {
    /// What the program's side of rank 0 told.
    pub fn enclosed(&self) -> &Enclosed {
        &self.news.enclosed
    }

    /// The pages whose contents travel with it.
    pub fn carried(&self) -> &[Page] {
        &self.carried
    }
}

/// A region that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region<'a> {
    /// Stands for it.
    pub name: u64,
    /// The size of its team.
    pub threads: u64,
    /// What it was given.
    pub values: &'a [u64],
}

/// Threads that wait for flags declare a nest for each line of each plane between two synchronisations: so many times the words
/// of others, which are told once.
const WITH_FLAGS: usize = 32;

/// What the synchronisations of one rank remember of each other.
pub struct Driver {
    /// Declarations in more words are too many, and where threads of the region that runs wait for flags.
    most_words: usize,
    waits_for_flags: bool,
    /// The headers of the last synchronisation, kept for their memory.
    headers: Vec<u64>,
    /// Stands for the region that runs and the size of its team.
    place: Signature,
    brief: brief::State,
}

impl Driver {
    /// Of a rank that has not met others. A region that describes what it accesses between two synchronisations
    /// in more than `most_words` words does so in too small pieces: pages serve it better.
    pub fn new(most_words: usize) -> Self {
        Self {
            most_words,
            waits_for_flags: false,
            headers: Vec::new(),
            place: Signature::START,
            brief: brief::State::default(),
        }
    }

    // ---- Regions -------------------------------------------------------------------------------

    /// On rank 0, before the others are told: what serial code did. `carried` are the pages whose contents are to
    /// travel along.
    pub fn prepare_fork(&mut self, rank: &mut impl Rank, carried: Vec<Page>) -> Fork {
        rank.coherence(|coherence| coherence.make_room_for_updates(carried.len()));
        let is_silent = rank.coherence(|coherence| coherence.is_serial_code_silent());
        let news = News::collect(rank, Phase::Serial);
        Fork {
            news,
            carried,
            is_silent,
        }
    }

    /// On rank 0: tells the others, with some words of the program's. The number of words of the message.
    pub fn send_fork(&mut self, rank: &mut impl Rank, fork: &Fork, words: &[u64]) -> usize {
        let (runs, lengths) = fork.news.flatten();
        let mut message = lengths.to_vec();
        let silent = if fork.is_silent { SILENT } else { 0 };
        message.push(words.len() as u64 | (fork.carried.len() as u64) << 32 | silent);
        message.extend(words);
        message.extend(runs);
        message.extend(fork.carried.iter().map(|&page| u64::from(page)));
        let length = message.len();
        self.hand_out(rank, message);
        length
    }

    /// On rank 0: tells the others that there are no more forks.
    pub fn end(&mut self, rank: &mut impl Rank) {
        self.hand_out(rank, vec![0]);
    }

    fn hand_out(&mut self, rank: &mut impl Rank, mut words: Vec<u64>) {
        match rank.has_tree() {
            true => self.brief.send_fork(rank, &words),
            false => rank.broadcast(&mut words),
        }
    }

    /// On the other ranks: the next fork, and the program's words that came with it; `None` where there are no
    /// more.
    pub fn receive_fork(&mut self, rank: &mut impl Rank) -> Option<(Fork, Vec<u64>)> {
        let mut message = Vec::new();
        match rank.has_tree() {
            true => message = self.brief.receive_fork(rank),
            false => rank.broadcast(&mut message),
        }
        if message.len() < FORK_BODY {
            return None;
        }
        let (lengths, body) = message.split_at(FORK_COUNTS);
        let is_silent = body[0] & SILENT != 0;
        let (words, carried) = (
            body[0] as u32 as usize,
            ((body[0] & !SILENT) >> 32) as usize,
        );
        let (words, body) = body[1..].split_at(words);
        let runs = lengths.iter().sum::<u64>() as usize;
        assert_eq!(body.len(), runs + carried);
        let fork = Fork {
            news: News::unflatten(&body[..runs], lengths),
            carried: body[runs..].iter().map(|&page| page as Page).collect(),
            is_silent,
        };
        Some((fork, words.to_vec()))
    }

    /// Applies rank 0's notices and updates, and hands the carried pages round. Collective.
    pub fn apply_fork(&mut self, rank: &mut impl Rank, fork: &Fork) {
        let Fork {
            news,
            carried,
            is_silent,
        } = fork;
        let changes_under_way = rank.coherence(|coherence| {
            coherence.note_serial_code(*is_silent);
            let notices = std::slice::from_ref(&news.notices);
            let changes_under_way = coherence.apply(notices, Phase::Serial);
            coherence.apply_updates(&news.updates);
            changes_under_way
        });
        assert!(!changes_under_way, "serial code has one writer");
        self.hand_pages_round(rank, carried);
        let freed = news.notices.freed.iter();
        rank.coherence(|coherence| coherence.apply_freed(freed));
    }

    fn hand_pages_round(&self, rank: &mut impl Rank, carried: &[Page]) {
        if carried.is_empty() {
            return;
        }
        let mut contents = vec![0; carried.len() * PAGE];
        if rank.rank() == 0 {
            rank.coherence(|coherence| {
                for (&page, slot) in carried.iter().zip(contents.chunks_mut(PAGE)) {
                    slot.copy_from_slice(&coherence.contents(page));
                }
            });
        }
        rank.broadcast_pages(&mut contents);
        rank.coherence(|coherence| {
            for (&page, contents) in carried.iter().zip(contents.chunks(PAGE)) {
                coherence.receive(page, contents.try_into().expect("a page"));
            }
            coherence.apply_pending();
        });
    }

    /// After its fork: the region begins. `None` says that nothing is to change for it, as where every write is
    /// tracked anyway. Collective.
    pub fn enter_region(
        &mut self,
        rank: &mut impl Rank,
        region: &Region<'_>,
        accesses: Option<Accesses>,
    ) {
        self.brief.enter_region(region.name);
        if let Some(accesses) = accesses
            && rank.coherence(|coherence| coherence.enter_region(accesses))
        {
            rank.barrier();
        }
        self.place = Signature::START.with(region.name).with(region.threads);
        self.begin_pushes(rank, Some(region.values));
    }

    /// After the last synchronisation of a region, before the program's side leaves it. Collective.
    pub fn leave_region(&mut self, rank: &mut impl Rank) {
        let is_left_apart = rank.coherence(|coherence| {
            coherence.end_last_interval();
            coherence.leave_stack()
        });
        if is_left_apart {
            rank.barrier();
        }
    }

    /// On all ranks, before the program runs on after a synchronisation of a region; or after its fork, with what
    /// the region was given.
    fn begin_pushes(&mut self, rank: &mut impl Rank, given: Option<&[u64]>) {
        rank.coherence(|coherence| coherence.begin_direct_interval());
        let place = match given {
            Some(_) => self.place,
            None => self.place.with(1),
        };
        if given.is_some() {
            rank.coherence(|coherence| coherence.begin_region_of_writers(place));
        }
        if given.is_none() && rank.coherence(|coherence| coherence.move_to_writers(place)) {
            rank.barrier();
        }
        let is_done = rank.coherence(|coherence| {
            coherence.begin_pushes(place, given);
            coherence.relay()
        });
        if !is_done {
            rank.waiting(|rank| {
                rank.wait_until(|rank| rank.coherence(|coherence| coherence.relay()));
                ((), Waits::ForTeam)
            });
        }
    }

    // ---- Synchronisations ----------------------------------------------------------------------

    /// Synchronises all ranks. Collective.
    pub fn synchronise(&mut self, rank: &mut impl Rank, kind: Kind, payload: u64) -> Met {
        self.waits_for_flags = rank.coherence(|coherence| coherence.waits_for_flags());
        let mut header = self.open_header(rank, kind, payload);
        // At the end of a region updates can wait for the next fork, unless it turns out not to be the end.
        // After the end of a region that all have to know of at once.
        let ends_at_once = rank.coherence(|coherence| coherence.has_stack_sections());
        let is_brief = self.brief.is_expected(rank) && !ends_at_once;
        brief::arrive(rank, is_brief);
        let mut news = match is_brief && kind == Kind::Join {
            true => News::without_updates(rank),
            false => News::collect(rank, Phase::Parallel),
        };
        if is_brief {
            let (_, lengths) = news.flatten();
            header[HEADER_LENGTHS..HEADER_RUNS].copy_from_slice(&lengths);
            let mine = self.summary(rank.rank() as usize, &header);
            let (all, updates) = self.brief.agree(rank, mine, &news.updates);
            if all.is_all(rank) {
                self.brief.note(false);
                all.apply(rank, &updates);
                if !all.is_join() {
                    self.begin_pushes(rank, None);
                }
                return Met {
                    payloads: Vec::new(),
                    joined: all.is_join(),
                };
            }
            if kind == Kind::Join {
                news.add_updates(rank, Phase::Parallel);
            }
        }
        self.exchange_news(rank, header, &news, kind)
    }

    /// What a rank tells of itself, without its news.
    fn open_header(&self, rank: &mut impl Rank, kind: Kind, payload: u64) -> [u64; HEADER] {
        let is_apart = rank.take_apart();
        let mut header = [0; HEADER];
        header[0] = kind as u64;
        header[1] = payload;
        rank.coherence(|coherence| {
            coherence.combine();
            let declared = coherence.declared_signature();
            let (declarations, claims) = coherence.declarations_length();
            let (copied, copies) = coherence.copied();
            header[HEADER_DECLARED..HEADER_DECLARATIONS].copy_from_slice(&declared.to_words());
            header[HEADER_DECLARATIONS] = declarations as u64;
            header[HEADER_CLAIMS] = claims as u64;
            header[HEADER_COPIED..HEADER_COPIES].copy_from_slice(&copied.to_words());
            header[HEADER_COPIES] = copies as u64;
            header[HEADER_FLAGS] = u64::from(coherence.has_entering_pages()) * ENTERS
                + u64::from(coherence.omits_claims()) * OMITS
                + u64::from(is_apart) * APART;
        });
        header
    }

    /// Where a rank may have news: all tell all, and apply it.
    fn exchange_news(
        &mut self,
        rank: &mut impl Rank,
        mut header: [u64; HEADER],
        news: &News,
        kind: Kind,
    ) -> Met {
        let (runs, lengths) = news.flatten();
        header[HEADER_LENGTHS..HEADER_RUNS].copy_from_slice(&lengths);
        let inline = runs.len().min(HEADER - HEADER_RUNS);
        header[HEADER_RUNS..HEADER_RUNS + inline].copy_from_slice(&runs[..inline]);
        let mut headers = std::mem::take(&mut self.headers);
        headers.resize(HEADER * rank.ranks() as usize, 0);
        rank.waiting(|rank| {
            rank.all_gather(&header, &mut headers);
            ((), Waits::ForTeam)
        });
        if rank.has_tree() {
            let summaries = headers.chunks(HEADER).enumerate();
            let all = summaries
                .map(|(rank, header)| self.summary(rank, header))
                .reduce(Summary::and);
            let had_news = !all.expect("there are ranks").is_all(rank);
            self.brief.note(had_news);
        }
        let all = all_news(rank, &headers, &runs);
        let kinds: Vec<Kind> = headers
            .chunks(HEADER)
            .map(|header| Kind::of(header[0]))
            .collect();
        rank.check(kind, &kinds);
        let mut notices = Vec::with_capacity(all.len());
        let mut enclosed = Vec::with_capacity(all.len());
        let mut updates = Vec::new();
        for mut news in all {
            updates.append(&mut news.updates);
            enclosed.push(news.enclosed);
            notices.push(news.notices);
        }
        rank.open(&enclosed);
        if rank.coherence(|coherence| coherence.apply(&notices, Phase::Parallel)) {
            rank.barrier();
        }
        rank.coherence(|coherence| coherence.apply_updates(&updates));
        learn_copies(rank, &headers);
        self.apply_declared(rank, &headers);
        let wanted = rank.coherence(|coherence| coherence.wanted_updates());
        self.hand_pages_round(rank, &wanted);
        rank.coherence(|coherence| coherence.apply_freed(Notices::freed_of(&notices)));
        let payloads = headers.chunks(HEADER).map(|header| header[1]).collect();
        let joined = kinds
            .iter()
            .all(|&kind| matches!(kind, Kind::Join | Kind::Passive));
        if !joined {
            self.begin_pushes(rank, None);
        }
        self.headers = headers;
        Met { payloads, joined }
    }

    /// What a header comes to where there is no more to it.
    fn summary(&self, rank: usize, header: &[u64]) -> Summary {
        let signature = |at: usize| Signature::from_words([header[at], header[at + 1]]);
        // Updates go along, or with the next fork.
        let has_news = (0..LISTS).any(|list| header[HEADER_LENGTHS + list] != 0 && list != UPDATES)
            || header[HEADER_FLAGS] & APART != 0
            || self.are_too_many(header[HEADER_DECLARATIONS] as usize);
        let signatures = [signature(HEADER_DECLARED), signature(HEADER_COPIED)];
        Summary::of_rank(rank, header[0], has_news, signatures)
    }

    /// Whether declarations in so many words are too many.
    fn are_too_many(&self, words: usize) -> bool {
        let times = match self.waits_for_flags {
            true => WITH_FLAGS,
            false => 1,
        };
        words > times * self.most_words
    }

    /// Applies what all ranks declared since the last synchronisation.
    fn apply_declared(&self, rank: &mut impl Rank, headers: &[u64]) {
        let claims = lengths(headers, HEADER_CLAIMS);
        let mut lengths = lengths(headers, HEADER_DECLARATIONS);
        let unclaimed = |lengths: &[usize]| -> Vec<usize> {
            let both = lengths.iter().zip(&claims);
            both.map(|(length, claims)| length - claims).collect()
        };
        let is_too_much = |words: &[usize]| words.iter().any(|&words| self.are_too_many(words));
        if is_too_much(&unclaimed(&lengths)) {
            rank.declare_nothing();
        }
        let any = |flag| {
            let mut headers = headers.chunks(HEADER);
            headers.any(|header| header[HEADER_FLAGS] & flag != 0)
        };
        if any(APART) {
            rank.track_pages();
        }
        let declared = Signature::of_all(signatures(headers, HEADER_DECLARED));
        if rank.coherence(|coherence| coherence.apply_declared(declared)) {
            return stop_where_pieces_are_dealt_out(rank);
        }
        let enters = any(ENTERS);
        let sends = is_too_much(&claims) || !enters && is_too_much(&lengths);
        let are_omitted = headers
            .chunks(HEADER)
            .all(|header| header[HEADER_CLAIMS] == 0 || header[HEADER_FLAGS] & OMITS != 0);
        let may_do_without_claims =
            sends && !enters && are_omitted && !is_too_much(&unclaimed(&lengths));
        let mut mine = rank.coherence(|coherence| coherence.declarations());
        if sends {
            lengths = match enters || may_do_without_claims {
                true => unclaimed(&lengths),
                false => vec![0; lengths.len()],
            };
            mine.truncate(lengths[rank.rank() as usize]);
        }
        let all = match lengths.iter().all(|&length| length == 0) {
            true => Vec::new(),
            false => rank.all_gather_parts(&mine, &lengths),
        };
        let all = cut(&all, &lengths);
        let does_without_claims = may_do_without_claims
            && !rank.coherence(|coherence| coherence.claims_would_matter(&all));
        if sends && !does_without_claims {
            rank.coherence(|coherence| coherence.send_to_owners(&all));
            return rank.barrier();
        }
        let omitted = headers.chunks(HEADER).zip(&claims);
        let omitted = omitted.map(|(header, &claims)| {
            let told = if may_do_without_claims { 0 } else { claims };
            (header[HEADER_FLAGS] & OMITS != 0).then_some(told)
        });
        let omitted: Vec<Option<usize>> = omitted.collect();
        rank.coherence(|coherence| coherence.apply_declarations(&all, &omitted));
        stop_where_pieces_are_dealt_out(rank);
    }
}

/// Where declarations cost more than they save, the region that runs declares nothing from here on. Collective.
fn stop_where_pieces_are_dealt_out(rank: &mut impl Rank) {
    if rank.coherence(|coherence| coherence.deals_out_pieces()) {
        rank.declare_nothing();
        // There may be any number of synchronisations until it ends.
        rank.stop_declaring();
        stop_declaring(rank);
    }
}

/// The region that runs tells nothing from here on. Collective.
pub(crate) fn stop_declaring(rank: &mut impl Rank) {
    if rank.coherence(|coherence| coherence.stop_declaring()) {
        rank.barrier();
    }
}

/// The news of all ranks, in rank order: out of their headers, and what does not fit there.
fn all_news(rank: &mut impl Rank, headers: &[u64], mine: &[u64]) -> Vec<News> {
    let list_lengths = |header: &'_ [u64]| -> [u64; LISTS] {
        let lengths = &header[HEADER_LENGTHS..HEADER_RUNS];
        lengths.try_into().expect("all lists")
    };
    let headers = headers.chunks(HEADER);
    let totals: Vec<usize> = headers
        .clone()
        .map(|header| list_lengths(header).iter().sum::<u64>() as usize)
        .collect();
    if totals.iter().any(|&total| total > HEADER - HEADER_RUNS) {
        let all = rank.all_gather_parts(mine, &totals);
        headers
            .zip(cut(&all, &totals))
            .map(|(header, lists)| News::unflatten(lists, &list_lengths(header)))
            .collect()
    } else {
        headers
            .map(|header| News::unflatten(&header[HEADER_RUNS..], &list_lengths(header)))
            .collect()
    }
}

/// Learns what the ranks copied from other nodes since the last synchronisation.
fn learn_copies(rank: &mut impl Rank, headers: &[u64]) {
    let lengths = lengths(headers, HEADER_COPIES);
    let copied = Signature::of_all(signatures(headers, HEADER_COPIED));
    if rank.coherence(|coherence| coherence.note_copied(copied, &lengths)) {
        let mine = rank.coherence(|coherence| coherence.copies());
        let all = rank.all_gather_parts(&mine, &lengths);
        rank.coherence(|coherence| coherence.learn_copies(copied, &cut(&all, &lengths)));
    }
}

/// A field of every header.
fn lengths(headers: &[u64], field: usize) -> Vec<usize> {
    let headers = headers.chunks(HEADER);
    headers.map(|header| header[field] as usize).collect()
}

fn signatures(headers: &[u64], field: usize) -> Vec<Signature> {
    let headers = headers.chunks(HEADER);
    headers
        .map(|header| Signature::from_words([header[field], header[field + 1]]))
        .collect()
}

fn cut<'a>(mut all: &'a [u64], lengths: &[usize]) -> Vec<&'a [u64]> {
    let lengths = lengths.iter();
    lengths
        .map(|&length| {
            let (own, others) = all.split_at(length);
            all = others;
            own
        })
        .collect()
}
