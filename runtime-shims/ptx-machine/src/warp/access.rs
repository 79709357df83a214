//! Accesses to memory: bounds, alignment, whether addresses are known, races, and what they cost.

use super::{Group, LANES, Local, Result, Warp, lanes_of};
use crate::check::{Conflict, How};
use crate::counts::Request;
use crate::parse::Space;
use crate::program::{Address, Operand, Order, Update, What, windows};
use crate::surroundings::{Finding, Surroundings, codes};
use crate::types::{Kind, Type, ones, sign_extended};

/// A copy into the block's memory that is on its way.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    from: u64,
    to: u64,
    bytes: usize,
    source_bytes: usize,
    at: u32,
}

/// Where an address leads.
#[derive(Clone, Copy, Debug)]
enum Place {
    Device(usize, usize),
    Shared(usize),
    Local(usize),
    Param(usize),
}

/// How the messages call it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Reads,
    Writes,
    Updates,
}

impl Doing {
    fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Updates => "updates",
        }
    }
}

fn place_of(
    surroundings: &Surroundings,
    local: &Local,
    space: Space,
    address: u64,
    bytes: usize,
    hint: usize,
) -> Result<Place, String> {
    let offset = address & !windows::WHICH;
    let space = match space {
        Space::Generic => match address & windows::WHICH {
            windows::SHARED => Space::Shared,
            windows::LOCAL => Space::Local,
            windows::PARAM => Space::Param,
            _ => Space::Global,
        },
        other => {
            let is_windowed = matches!(space, Space::Shared | Space::Local | Space::Param);
            if is_windowed && address & windows::WHICH != 0 {
                return Err("no address of this space".to_owned());
            }
            other
        }
    };
    let in_frames = |size: usize| offset.saturating_add(bytes as u64) <= size as u64;
    match space {
        Space::Shared => {
            surroundings.shared.check(offset, bytes)?;
            Ok(Place::Shared(offset as usize))
        }
        Space::Local if in_frames(local.data.len()) => Ok(Place::Local(offset as usize)),
        Space::Local => Err(format!(
            "outside of the thread's {} bytes of local memory",
            local.data.len()
        )),
        Space::Param if in_frames(surroundings.params.len()) => Ok(Place::Param(offset as usize)),
        Space::Param => Err("outside of the parameters".to_owned()),
        _ => {
            let index = surroundings.memory.find(address, bytes, hint)?;
            Ok(Place::Device(index, 0))
        }
    }
}

fn word(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

impl Warp {
    /// Executes one of them.
    pub(super) fn access(
        &mut self,
        what: &What,
        group: Group,
        surroundings: &mut Surroundings,
    ) -> Result<()> {
        match what {
            What::Load {
                address,
                of,
                to,
                order,
            } => {
                let bytes = of.bytes();
                let addresses = self.addresses(*address, group, surroundings)?;
                self.count(
                    address.space,
                    &addresses,
                    group,
                    bytes * to.len(),
                    Request::Load,
                    surroundings,
                );
                if order.is_atomic {
                    self.patience = self.patience.saturating_sub(1);
                }
                let mut hint = 0;
                for lane in lanes_of(group.lanes) {
                    self.load(
                        *address,
                        addresses[lane],
                        lane,
                        *of,
                        to,
                        *order,
                        group,
                        surroundings,
                        &mut hint,
                    )?;
                }
                Ok(())
            }
            What::Store {
                address,
                of,
                from,
                order,
            } => {
                let bytes = of.bytes();
                let addresses = self.addresses(*address, group, surroundings)?;
                self.count(
                    address.space,
                    &addresses,
                    group,
                    bytes * from.len(),
                    Request::Store,
                    surroundings,
                );
                let parts: Vec<_> = from
                    .iter()
                    .map(|part| self.registers.read(group, *part))
                    .collect();
                let computed = from
                    .iter()
                    .map(|part| self.registers.computed(group, *part));
                let computed: Vec<u32> = computed.collect();
                if order.is_atomic {
                    self.patience = self.patience.saturating_sub(1);
                }
                let mut hint = 0;
                for lane in lanes_of(group.lanes) {
                    let (mut data, mut known) = ([0; 64], [0; 64]);
                    for (index, (values, unknown)) in parts.iter().enumerate() {
                        let at = index * bytes;
                        data[at..at + bytes].copy_from_slice(&values[lane].to_le_bytes()[..bytes]);
                        let unknown = unknown.map_or(0, |unknown| unknown[lane]);
                        known[at..at + bytes].copy_from_slice(&(!unknown).to_le_bytes()[..bytes]);
                    }
                    let count = bytes * parts.len();
                    let is_unknown = |part: &usize| {
                        let known = &known[part * bytes..(part + 1) * bytes];
                        computed[*part] >> lane & 1 == 1 && known.iter().all(|known| *known == 0)
                    };
                    let unknown = (0..parts.len()).find(is_unknown);
                    self.store(
                        *address,
                        addresses[lane],
                        lane,
                        &data[..count],
                        &known[..count],
                        unknown.map(|part| (part * bytes, bytes)),
                        *order,
                        group,
                        surroundings,
                        &mut hint,
                    )?;
                }
                Ok(())
            }
            What::Atomic { .. } => self.update(what, group, surroundings),
            What::CopyAsync {
                to,
                from,
                bytes,
                source_bytes,
            } => self.start_copies(
                *to,
                *from,
                *bytes as usize,
                *source_bytes,
                group,
                surroundings,
            ),
            What::CopyCommit => {
                for lane in lanes_of(group.lanes) {
                    self.copies[lane].push(Vec::new());
                }
                Ok(())
            }
            What::CopyWait { but, is_all } => {
                self.finish_copies(*but as usize, *is_all, group, surroundings)
            }
            _ => unreachable!("it is executed elsewhere"),
        }
    }

    fn addresses(
        &self,
        address: Address,
        group: Group,
        surroundings: &Surroundings,
    ) -> Result<[u64; LANES]> {
        let (mut values, unknown) = self.registers.read(group, address.base);
        if let Some(unknown) = unknown
            && let Some(lane) = lanes_of(group.lanes).find(|lane| unknown[*lane] != 0)
        {
            let thread = surroundings.named(self.first_thread(1 << lane));
            let block = surroundings.block_named();
            return group.failed(format!(
                "{thread} of {block} computes an address from a value that was never written"
            ));
        }
        for (lane, value) in values.iter_mut().enumerate() {
            if address.in_frame {
                *value += u64::from(self.frame[lane]);
            }
            *value = value.wrapping_add_signed(address.offset);
        }
        Ok(values)
    }

    fn count(
        &self,
        space: Space,
        addresses: &[u64; LANES],
        group: Group,
        bytes: usize,
        request: Request,
        surroundings: &mut Surroundings,
    ) {
        let space = match space {
            Space::Generic => {
                match addresses[group.lanes.trailing_zeros() as usize] & windows::WHICH {
                    windows::SHARED => Space::Shared,
                    windows::LOCAL => Space::Local,
                    windows::PARAM => Space::Param,
                    _ => Space::Global,
                }
            }
            other => other,
        };
        let own = lanes_of(group.lanes).map(|lane| addresses[lane]);
        match space {
            Space::Global => surroundings.counts.global(request, own, bytes as u64),
            Space::Shared => {
                let own: Vec<u64> = own.map(|address| address & !windows::WHICH).collect();
                surroundings.counts.shared(&own, bytes as u64);
            }
            _ => {}
        }
    }

    /// Where a lane's access leads, or why it is wrong.
    #[allow(clippy::too_many_arguments)]
    fn place(
        &self,
        space: Space,
        address: u64,
        bytes: usize,
        lane: usize,
        doing: Doing,
        group: Group,
        surroundings: &mut Surroundings,
        hint: &mut usize,
    ) -> Result<Place> {
        let who = |surroundings: &Surroundings| {
            let thread = surroundings.named(self.first_thread(1 << lane));
            format!(
                "{thread} of {} {} {bytes} bytes at {address:#x}",
                surroundings.block_named(),
                doing.name()
            )
        };
        let place = match place_of(
            surroundings,
            &self.locals[lane],
            space,
            address,
            bytes,
            *hint,
        ) {
            Ok(place) => place,
            Err(what) => {
                let text = format!("{}: {what}", who(surroundings));
                return group.wrong(codes::ILLEGAL_ADDRESS, text);
            }
        };
        if bytes.is_power_of_two() && !address.is_multiple_of(bytes as u64) {
            let text = format!("{}, which is no multiple of {bytes}", who(surroundings));
            return group.wrong(codes::MISALIGNED, text);
        }
        match place {
            Place::Device(index, _) => {
                *hint = index;
                let allocation = surroundings.memory.get(index);
                let is_constant = allocation.is_constant;
                let offset = (address - allocation.base) as usize;
                if is_constant && doing != Doing::Reads {
                    let text = format!("{}, which is constant", who(surroundings));
                    return group.wrong(codes::ILLEGAL_ADDRESS, text);
                }
                Ok(Place::Device(index, offset))
            }
            Place::Param(_) if doing != Doing::Reads => {
                let text = format!("{}, among the parameters", who(surroundings));
                group.wrong(codes::ILLEGAL_ADDRESS, text)
            }
            place => Ok(place),
        }
    }

    /// Notes an access, and finds a race.
    fn check_race(
        &self,
        place: Place,
        bytes: usize,
        lane: usize,
        how: How,
        group: Group,
        surroundings: &mut Surroundings,
    ) -> Result<()> {
        if !surroundings.checks_races {
            return Ok(());
        }
        let mut who = self.who(lane, surroundings);
        let conflict = match place {
            Place::Device(index, offset) => {
                let allocation = surroundings.memory.get(index);
                if allocation.is_constant {
                    return Ok(());
                }
                allocation
                    .accesses
                    .access(offset, bytes, who, how, &surroundings.seen)
            }
            Place::Shared(offset) => {
                who.is_shared = true;
                let accesses = &mut surroundings.shared.accesses;
                accesses.access(offset, bytes, who, how, &surroundings.seen)
            }
            _ => None,
        };
        let Some(conflict) = conflict else {
            return Ok(());
        };
        let own = surroundings.named(self.first_thread(1 << lane));
        let doing = match (how.writes, how.is_atomic) {
            (true, true) => "updates",
            (true, false) => "writes",
            _ => "reads",
        };
        let what = match place {
            Place::Shared(offset) => format!("{bytes} bytes of shared memory at {offset:#x}"),
            Place::Device(index, offset) => {
                let allocation = surroundings.memory.get(index);
                let name = allocation.name.clone();
                let name = name
                    .unwrap_or_else(|| format!("an allocation of {} bytes", allocation.data.len()));
                format!("{bytes} bytes at offset {offset} of {name}")
            }
            _ => String::new(),
        };
        let did = |wrote: bool| if wrote { "wrote" } else { "read" };
        let (other, wrote, ends) = match conflict {
            Conflict::Thread {
                thread: Some(thread),
                wrote,
            } => (
                surroundings.named(thread.into()),
                wrote,
                "no barrier is between them",
            ),
            Conflict::Thread {
                thread: None,
                wrote,
            } => (
                "several threads".to_owned(),
                wrote,
                "no barrier is between them",
            ),
            Conflict::Block { wrote } => {
                ("another block".to_owned(), wrote, "nothing orders blocks")
            }
        };
        let block = surroundings.block_named();
        group.failed(format!(
            "race: {own} of {block} {doing} {what}, which {other} {}: {ends}",
            did(wrote)
        ))
    }

    /// The bytes of a place and which of their bits are known.
    fn bytes<'a>(
        &'a self,
        place: Place,
        count: usize,
        lane: usize,
        surroundings: &'a mut Surroundings,
    ) -> (&'a [u8], Option<&'a [u8]>) {
        match place {
            Place::Device(index, at) => {
                let allocation = surroundings.memory.get(index);
                (
                    &allocation.data[at..at + count],
                    Some(&allocation.known[at..at + count]),
                )
            }
            Place::Shared(at) => {
                let shared = &surroundings.shared;
                (
                    &shared.data[at..at + count],
                    Some(&shared.known[at..at + count]),
                )
            }
            Place::Local(at) => {
                let local = &self.locals[lane];
                (
                    &local.data[at..at + count],
                    Some(&local.known[at..at + count]),
                )
            }
            Place::Param(at) => (&surroundings.params[at..at + count], None),
        }
    }

    fn bytes_mut<'a>(
        &'a mut self,
        place: Place,
        count: usize,
        lane: usize,
        surroundings: &'a mut Surroundings,
    ) -> (&'a mut [u8], &'a mut [u8]) {
        match place {
            Place::Device(index, at) => {
                let allocation = surroundings.memory.get(index);
                (
                    &mut allocation.data[at..at + count],
                    &mut allocation.known[at..at + count],
                )
            }
            Place::Shared(at) => {
                let shared = &mut surroundings.shared;
                (
                    &mut shared.data[at..at + count],
                    &mut shared.known[at..at + count],
                )
            }
            Place::Local(at) => {
                let local = &mut self.locals[lane];
                (
                    &mut local.data[at..at + count],
                    &mut local.known[at..at + count],
                )
            }
            Place::Param(_) => unreachable!("parameters are not written"),
        }
    }

    /// What an atomic access orders.
    fn order(
        &mut self,
        order: Order,
        writes: bool,
        address: u64,
        place: Place,
        lane: usize,
        surroundings: &mut Surroundings,
    ) {
        if !order.is_atomic || matches!(place, Place::Local(_) | Place::Param(_)) {
            return;
        }
        let key = match place {
            Place::Shared(offset) => offset as u64,
            _ => address,
        };
        let is_device = matches!(place, Place::Device(..));
        if is_device && let Some(released) = surroundings.releases.get(&key) {
            surroundings.seen.add_all(released);
        }
        if writes && (order.releases || self.fenced >> lane & 1 == 1) {
            if is_device {
                let released = surroundings.releases.entry(key).or_default();
                released.add_all(&surroundings.seen);
                released.add(surroundings.who.block, surroundings.who.segment);
            }
            // What the block does from now on is behind what it released.
            surroundings.begin_segment();
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn load(
        &mut self,
        address: Address,
        at: u64,
        lane: usize,
        of: Type,
        to: &[Option<(u32, u32)>],
        order: Order,
        group: Group,
        surroundings: &mut Surroundings,
        hint: &mut usize,
    ) -> Result<()> {
        let bytes = of.bytes();
        let count = bytes * to.len();
        let place = self.place(
            address.space,
            at,
            count,
            lane,
            Doing::Reads,
            group,
            surroundings,
            hint,
        )?;
        self.order(order, false, at, place, lane, surroundings);
        let how = How {
            writes: false,
            is_atomic: order.is_atomic,
            is_same: false,
        };
        self.check_race(place, count, lane, how, group, surroundings)?;
        let mut parts = [(0, 0); 8];
        let (data, known) = self.bytes(place, count, lane, surroundings);
        for (index, part) in parts.iter_mut().take(to.len()).enumerate() {
            let here = index * bytes..(index + 1) * bytes;
            let value = word(&data[here.clone()]);
            let unknown = known.map_or(0, |known| !word(&known[here]) & ones(of.width()));
            *part = (value, unknown);
        }
        for (part, to) in parts.iter().zip(to) {
            let Some((register, width)) = to else {
                continue;
            };
            let (mut value, mut unknown) = *part;
            if of.is_signed() {
                value = sign_extended(value, of.width()) & ones(*width);
                unknown = sign_extended(unknown, of.width()) & ones(*width);
            }
            self.registers
                .set(group.base + register, lane, value, unknown);
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn store(
        &mut self,
        address: Address,
        at: u64,
        lane: usize,
        data: &[u8],
        known: &[u8],
        unknown: Option<(usize, usize)>,
        order: Order,
        group: Group,
        surroundings: &mut Surroundings,
        hint: &mut usize,
    ) -> Result<()> {
        let count = data.len();
        let place = self.place(
            address.space,
            at,
            count,
            lane,
            Doing::Writes,
            group,
            surroundings,
            hint,
        )?;
        let (there, there_known) = self.bytes(place, count, lane, surroundings);
        let is_same = there == data && there_known == Some(known);
        let how = How {
            writes: true,
            is_atomic: order.is_atomic,
            is_same,
        };
        self.check_race(place, count, lane, how, group, surroundings)?;
        self.order(order, true, at, place, lane, surroundings);
        let (own, own_known) = self.bytes_mut(place, count, lane, surroundings);
        own.copy_from_slice(data);
        own_known.copy_from_slice(known);
        if let (Place::Device(index, offset), Some((part, bytes))) = (place, unknown)
            && surroundings.memory.get(index).has_room_for_unknown()
        {
            let thread = surroundings.named(self.first_thread(1 << lane));
            let text = format!(
                "{}, {}: {thread} of {} stores what is computed from a value that was never written",
                surroundings.kernel,
                surroundings.program.place(group.at),
                surroundings.block_named()
            );
            let allocation = surroundings.memory.get(index);
            allocation.note_unknown(offset + part, bytes, text);
        }
        Ok(())
    }

    fn update(&mut self, what: &What, group: Group, surroundings: &mut Surroundings) -> Result<()> {
        let What::Atomic {
            address,
            op,
            of,
            flushes,
            to,
            value,
            other,
            order,
        } = what
        else {
            unreachable!("it is atomic");
        };
        let bytes = of.bytes();
        let addresses = self.addresses(*address, group, surroundings)?;
        self.count(
            address.space,
            &addresses,
            group,
            bytes,
            Request::Atomic,
            surroundings,
        );
        self.patience = self.patience.saturating_sub(1);
        let (values, unknown) = self.registers.read(group, *value);
        let (others, others_unknown) = self.registers.read(group, *other);
        let mut hint = 0;
        for lane in lanes_of(group.lanes) {
            let at = addresses[lane];
            let place = self.place(
                address.space,
                at,
                bytes,
                lane,
                Doing::Updates,
                group,
                surroundings,
                &mut hint,
            )?;
            self.order(*order, false, at, place, lane, surroundings);
            let how = How {
                writes: true,
                is_atomic: true,
                is_same: false,
            };
            self.check_race(place, bytes, lane, how, group, surroundings)?;
            self.order(*order, true, at, place, lane, surroundings);
            let flushes = *flushes && matches!(place, Place::Device(..));
            let mask = ones(of.width());
            let (data, known) = self.bytes_mut(place, bytes, lane, surroundings);
            let old = word(data);
            let old_unknown = !word(known) & mask;
            let new = updated(*op, *of, flushes, old, values[lane], others[lane]);
            let own_unknown = unknown.map_or(0, |unknown| unknown[lane])
                | others_unknown.map_or(0, |unknown| unknown[lane]);
            let new_unknown = match op {
                Update::Exchange => own_unknown,
                _ if own_unknown | old_unknown == 0 => 0,
                _ => mask,
            };
            data.copy_from_slice(&new.to_le_bytes()[..bytes]);
            known.copy_from_slice(&(!new_unknown).to_le_bytes()[..bytes]);
            if let Some(to) = to {
                self.registers.set(group.base + to, lane, old, old_unknown);
            }
        }
        Ok(())
    }

    fn start_copies(
        &mut self,
        to: Address,
        from: Address,
        bytes: usize,
        source_bytes: Operand,
        group: Group,
        surroundings: &mut Surroundings,
    ) -> Result<()> {
        let targets = self.addresses(to, group, surroundings)?;
        let sources = self.addresses(from, group, surroundings)?;
        let (counts, _) = self.registers.read(group, source_bytes);
        self.count(
            Space::Global,
            &sources,
            group,
            bytes,
            Request::Load,
            surroundings,
        );
        let mut hint = 0;
        for lane in lanes_of(group.lanes) {
            let source_bytes = (counts[lane] as usize).min(bytes);
            let place = self.place(
                Space::Shared,
                targets[lane],
                bytes,
                lane,
                Doing::Writes,
                group,
                surroundings,
                &mut hint,
            )?;
            if source_bytes > 0 {
                self.place(
                    Space::Global,
                    sources[lane],
                    source_bytes,
                    lane,
                    Doing::Reads,
                    group,
                    surroundings,
                    &mut hint,
                )?;
            }
            // Until somebody waits for it nobody knows what is there.
            self.bytes_mut(place, bytes, lane, surroundings).1.fill(0);
            let copy = Copy {
                from: sources[lane],
                to: targets[lane],
                bytes,
                source_bytes,
                at: group.at,
            };
            self.copies[lane]
                .last_mut()
                .expect("a group that is open")
                .push(copy);
        }
        Ok(())
    }

    fn finish_copies(
        &mut self,
        but: usize,
        is_all: bool,
        group: Group,
        surroundings: &mut Surroundings,
    ) -> Result<()> {
        for lane in lanes_of(group.lanes) {
            let groups = std::mem::take(&mut self.copies[lane]);
            // The last one is still open.
            let keeps = if is_all { 0 } else { but + 1 };
            let done = groups.len().saturating_sub(keeps);
            let mut groups = groups.into_iter();
            let finished: Vec<Copy> = groups.by_ref().take(done).flatten().collect();
            self.copies[lane] = groups.collect();
            if self.copies[lane].is_empty() {
                self.copies[lane].push(Vec::new());
            }
            for copy in finished {
                self.finish_copy(copy, lane, group, surroundings)?;
            }
        }
        Ok(())
    }

    fn finish_copy(
        &mut self,
        copy: Copy,
        lane: usize,
        group: Group,
        surroundings: &mut Surroundings,
    ) -> Result<()> {
        let group = Group {
            at: copy.at,
            ..group
        };
        let (mut data, mut known) = ([0; 16], [!0; 16]);
        let mut hint = 0;
        if copy.source_bytes > 0 {
            let place = self.place(
                Space::Global,
                copy.from,
                copy.source_bytes,
                lane,
                Doing::Reads,
                group,
                surroundings,
                &mut hint,
            )?;
            let how = How {
                writes: false,
                is_atomic: false,
                is_same: false,
            };
            self.check_race(place, copy.source_bytes, lane, how, group, surroundings)?;
            let (from, from_known) = self.bytes(place, copy.source_bytes, lane, surroundings);
            data[..copy.source_bytes].copy_from_slice(from);
            if let Some(from_known) = from_known {
                known[..copy.source_bytes].copy_from_slice(from_known);
            }
        }
        let place = self.place(
            Space::Shared,
            copy.to,
            copy.bytes,
            lane,
            Doing::Writes,
            group,
            surroundings,
            &mut hint,
        )?;
        let how = How {
            writes: true,
            is_atomic: false,
            is_same: false,
        };
        self.check_race(place, copy.bytes, lane, how, group, surroundings)?;
        let (to, to_known) = self.bytes_mut(place, copy.bytes, lane, surroundings);
        to.copy_from_slice(&data[..copy.bytes]);
        to_known.copy_from_slice(&known[..copy.bytes]);
        Ok(())
    }

    /// The bytes at an address of the generic space up to a zero, for what is printed.
    pub(super) fn text(
        &self,
        address: u64,
        lane: usize,
        group: Group,
        surroundings: &mut Surroundings,
    ) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut hint = 0;
        loop {
            let at = address + text.len() as u64;
            let byte = self.generic(at, 1, lane, group, surroundings, &mut hint)? as u8;
            if byte == 0 {
                return Ok(text);
            }
            text.push(byte);
        }
    }

    /// A number at an address of the generic space, all of which has to be known.
    pub(super) fn generic(
        &self,
        address: u64,
        bytes: usize,
        lane: usize,
        group: Group,
        surroundings: &mut Surroundings,
        hint: &mut usize,
    ) -> Result<u64, Finding> {
        let place = self.place(
            Space::Generic,
            address,
            bytes,
            lane,
            Doing::Reads,
            group,
            surroundings,
            hint,
        )?;
        let (data, known) = self.bytes(place, bytes, lane, surroundings);
        if known.is_some_and(|known| known.iter().any(|known| *known != !0)) {
            return group.failed("prints a value that was never written");
        }
        Ok(word(data))
    }
}

/// What an atomic update leaves.
fn updated(op: Update, of: Type, flushes: bool, old: u64, value: u64, other: u64) -> u64 {
    let mask = ones(of.width());
    let value = value & mask;
    if of.kind == Kind::Float {
        let half = |shift: u32| {
            let [a, b] =
                [old, value].map(|all| crate::float::from_half((all >> shift) as u16, Kind::Float));
            let sum = f64::from(a) + f64::from(b);
            u64::from(crate::float::to_half(
                sum,
                Kind::Float,
                crate::float::Rounding::Nearest,
            )) << shift
        };
        return match of.bits {
            64 => (f64::from_bits(old) + f64::from_bits(value)).to_bits(),
            32 => {
                let flush = |value: f32| {
                    if flushes {
                        crate::float::flushed(value)
                    } else {
                        value
                    }
                };
                let sum = flush(f32::from_bits(old as u32)) + flush(f32::from_bits(value as u32));
                flush(sum).to_bits().into()
            }
            _ if of.packed == 2 => half(0) | half(16),
            _ => half(0),
        };
    }
    let signed = |value: u64| sign_extended(value, of.width()) as i64;
    match op {
        Update::Add => old.wrapping_add(value) & mask,
        Update::Min if of.is_signed() => {
            if signed(old) <= signed(value) {
                old
            } else {
                value
            }
        }
        Update::Max if of.is_signed() => {
            if signed(old) >= signed(value) {
                old
            } else {
                value
            }
        }
        Update::Min => old.min(value),
        Update::Max => old.max(value),
        Update::And => old & value,
        Update::Or => old | value,
        Update::Xor => old ^ value,
        Update::Exchange => value,
        Update::CompareAndSwap => {
            if old == value {
                other & mask
            } else {
                old
            }
        }
        Update::Increment => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        Update::Decrement => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
    }
}
