//! What a rank has of a distributed mesh, and what it exchanges with others.
//!
//! Guarantee: each element is owned once. A rank *executes* the elements that it owns and those of others that
//! point to one it owns, so whatever is written to an element through a map is written on its owner;
//! it *has* besides all that those point to. Both sides of an exchange list the same elements in the
//! same order. Local numbers: owned elements that need nothing of others ("core"), the other owned ones, others' that
//! are executed here, others' that are only read; owned ones in the order of their positions, which are their
//! original numbers if nothing else is asked for.

use std::ops::Range;

use crate::{
    order::Order,
    renumber::Positions,
    topology::{Links, Rank, Topology},
};

/// What a rank has of a set.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The original number of each element.
    pub(crate) numbers: Vec<i32>,
    /// The first of them need nothing of others.
    pub(crate) core: usize,
    /// The first of them are owned.
    pub(crate) owned: usize,
    /// The first of them are executed.
    pub(crate) executed: usize,
    /// What is exchanged with each of the neighbours.
    pub(crate) exchanges: Vec<Exchange>,
}

/// What of a set is exchanged with one neighbour.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    /// Owned elements that the neighbour has.
    pub(crate) exports: Vec<u32>,
    /// The neighbour's elements that are executed here, and those that are only read.
    pub(crate) imports: [Range<usize>; 2],
}

impl Exchange {
    /// Elements that come from the neighbour.
    pub(crate) fn imported(&self) -> usize {
        self.imports.iter().map(Range::len).sum()
    }
}

/// What a rank has of a mesh.
#[derive(Debug)]
pub(crate) struct Portion {
    /// Ranks with which something is exchanged.
    pub(crate) neighbours: Vec<Rank>,
    /// Of each set.
    pub(crate) parts: Vec<Part>,
}

/// Sorted lists of elements, one for each rank.
struct Lists(Vec<Vec<u32>>);

impl Lists {
    fn new(ranks: usize) -> Self {
        Self(vec![Vec::new(); ranks])
    }

    fn add(&mut self, rank: Rank, element: usize) {
        let list = &mut self.0[rank as usize];
        if list.last() != Some(&(element as u32)) {
            list.push(element as u32);
        }
    }

    /// Sorts.
    fn close(&mut self) {
        for list in &mut self.0 {
            list.sort_unstable();
            list.dedup();
        }
    }

    fn has(&self, rank: Rank, element: usize) -> bool {
        self.0[rank as usize]
            .binary_search(&(element as u32))
            .is_ok()
    }

    fn of(&self, rank: Rank) -> &[u32] {
        &self.0[rank as usize]
    }
}

/// For one set: others' elements by owner, and the own elements that others have.
struct Borders {
    import_executed: Lists,
    import_read: Lists,
    export_executed: Lists,
    export_read: Lists,
}

impl Borders {
    fn new(ranks: usize) -> Self {
        Self {
            import_executed: Lists::new(ranks),
            import_read: Lists::new(ranks),
            export_executed: Lists::new(ranks),
            export_read: Lists::new(ranks),
        }
    }

    fn exchanges_with(&self, rank: Rank) -> bool {
        let all = [
            &self.import_executed,
            &self.import_read,
            &self.export_executed,
            &self.export_read,
        ];
        all.iter().any(|lists| !lists.of(rank).is_empty())
    }
}

impl Topology {
    fn maps_from(&self, set: usize) -> Vec<&Links> {
        self.maps.iter().filter(|map| map.from == set).collect()
    }

    /// What rank `me` has of each set. `owners` are those of all sets; so are `positions`, where the order is not
    /// the original one.
    pub(crate) fn portion(
        &self,
        owners: &[Vec<Rank>],
        positions: Option<&[Positions]>,
        ranks: usize,
        me: Rank,
    ) -> Portion {
        let mut borders: Vec<_> = self.sizes.iter().map(|_| Borders::new(ranks)).collect();
        for (set, borders) in borders.iter_mut().enumerate() {
            self.executed(owners, set, me, borders);
        }
        self.read(owners, me, &mut borders);
        for borders in &mut borders {
            borders.import_read.close();
            borders.export_read.close();
        }
        let neighbours: Vec<_> = (0..ranks as Rank)
            .filter(|&rank| borders.iter().any(|borders| borders.exchanges_with(rank)))
            .collect();
        let parts = borders.iter().enumerate().map(|(set, borders)| {
            let maps = self.maps_from(set);
            let is_core = |element: usize| {
                let all = maps.iter();
                all.flat_map(|map| {
                    map.of(element)
                        .iter()
                        .map(|&to| owners[map.to][to as usize])
                })
                .all(|owner| owner == me)
            };
            let position = |number: i32| match positions {
                Some(all) => all[set][number as usize],
                None => number as u32,
            };
            part(&owners[set], me, &neighbours, borders, position, is_core)
        });
        Portion {
            parts: parts.collect(),
            neighbours,
        }
    }

    /// Lists the elements of a set that are executed by a rank which does not own them.
    fn executed(&self, owners: &[Vec<Rank>], set: usize, me: Rank, borders: &mut Borders) {
        let maps = self.maps_from(set);
        for (element, &owner) in owners[set].iter().enumerate() {
            for map in &maps {
                for &to in map.of(element) {
                    let executes = owners[map.to][to as usize];
                    if executes == owner {
                        continue;
                    }
                    if executes == me {
                        borders.import_executed.add(owner, element);
                    } else if owner == me {
                        borders.export_executed.add(executes, element);
                    }
                }
            }
        }
        borders.import_executed.close();
        borders.export_executed.close();
    }

    /// Lists what those who execute an element read of others, beside what they execute themselves.
    fn read(&self, owners: &[Vec<Rank>], me: Rank, borders: &mut [Borders]) {
        let mut executing = Vec::new();
        for (set, set_owners) in owners.iter().enumerate() {
            let maps = self.maps_from(set);
            for (element, &owner) in set_owners.iter().enumerate() {
                executing.clear();
                executing.push(owner);
                for map in &maps {
                    for &to in map.of(element) {
                        let rank = owners[map.to][to as usize];
                        if !executing.contains(&rank) {
                            executing.push(rank);
                        }
                    }
                }
                if executing.len() == 1 {
                    continue;
                }
                for map in &maps {
                    for &to in map.of(element) {
                        let to = to as usize;
                        let target_owner = owners[map.to][to];
                        let borders = &mut borders[map.to];
                        if target_owner == me {
                            for &rank in executing.iter().filter(|&&rank| rank != me) {
                                if !borders.export_executed.has(rank, to) {
                                    borders.export_read.add(rank, to);
                                }
                            }
                        } else if executing.contains(&me)
                            && !borders.import_executed.has(target_owner, to)
                        {
                            borders.import_read.add(target_owner, to);
                        }
                    }
                }
            }
        }
    }
}

fn part(
    owners: &[Rank],
    me: Rank,
    neighbours: &[Rank],
    borders: &Borders,
    position: impl Fn(i32) -> u32,
    is_core: impl Fn(usize) -> bool,
) -> Part {
    let owned = (0..owners.len()).filter(|&element| owners[element] == me);
    let (mut numbers, border): (Vec<i32>, Vec<i32>) = {
        let (core, border): (Vec<_>, Vec<_>) = owned.partition(|&element| is_core(element));
        let in_order = |list: Vec<usize>| {
            let mut list: Vec<_> = list.into_iter().map(|one| one as i32).collect();
            list.sort_unstable_by_key(|&number| position(number));
            list
        };
        (in_order(core), in_order(border))
    };
    let core = numbers.len();
    numbers.extend(border);
    let owned = numbers.len();
    let local = |number: u32| {
        let (core_numbers, border_numbers) = numbers[..owned].split_at(core);
        let at = position(number as i32);
        let find = |list: &[i32]| list.binary_search_by_key(&at, |&one| position(one));
        let found = find(core_numbers);
        let found = found.or_else(|_| find(border_numbers).map(|at| at + core));
        found.expect("only owned elements are exported") as u32
    };
    let exports = neighbours.iter().map(|&rank| {
        let lists = [&borders.export_executed, &borders.export_read];
        let elements = lists.into_iter().flat_map(|list| list.of(rank));
        elements.map(|&number| local(number)).collect()
    });
    let exports: Vec<Vec<u32>> = exports.collect();
    let mut import = |list: &Lists| {
        let ranges = neighbours.iter().map(|&rank| {
            let start = numbers.len();
            numbers.extend(list.of(rank).iter().map(|&number| number as i32));
            start..numbers.len()
        });
        ranges.collect::<Vec<_>>()
    };
    let executed_ranges = import(&borders.import_executed);
    let read_ranges = import(&borders.import_read);
    numbers.shrink_to_fit();
    let executed = executed_ranges.last().map_or(owned, |range| range.end);
    let exchanges = exports
        .into_iter()
        .zip(executed_ranges.into_iter().zip(read_ranges));
    Part {
        core,
        owned,
        executed,
        exchanges: exchanges
            .map(|(exports, (executed, read))| Exchange {
                exports,
                imports: [executed, read],
            })
            .collect(),
        numbers,
    }
}

impl Part {
    /// The local number of each element of the whole set; -1 for those that are not here.
    pub(crate) fn local_numbers(&self, size: usize) -> Vec<i32> {
        let mut local = vec![-1; size];
        for (at, &number) in self.numbers.iter().enumerate() {
            local[number as usize] = at as i32;
        }
        local
    }

    /// The rows of `map` that are executed here, in local numbers of its target set, which are `local`.
    pub(crate) fn rows(&self, map: &Links, local: &[i32]) -> Vec<i32> {
        let rows = self.numbers[..self.executed].iter();
        let targets = rows.flat_map(|&number| map.of(number as usize));
        targets.map(|&to| local[to as usize]).collect()
    }

    /// What is here of data of the whole set, `size` bytes for each element.
    pub(crate) fn select(&self, whole: &[u8], size: usize) -> Vec<u8> {
        let elements = self.numbers.iter();
        let data = elements.flat_map(|&number| &whole[number as usize * size..][..size]);
        data.copied().collect()
    }

    /// Puts what neighbour number `neighbour` has of `data` after `message`.
    pub(crate) fn pack(&self, neighbour: usize, data: &[u8], order: Order, message: &mut Vec<u8>) {
        for &element in &self.exchanges[neighbour].exports {
            order.append(data, element as usize, message);
        }
    }

    /// Takes what is here of the neighbour's `data`, of elements of `size` bytes, from the front of `message`; the rest of it.
    pub(crate) fn unpack<'a>(
        &self,
        neighbour: usize,
        data: &mut [u8],
        size: usize,
        order: Order,
        mut message: &'a [u8],
    ) -> &'a [u8] {
        for range in &self.exchanges[neighbour].imports {
            let (now, rest) = message.split_at(range.len() * size);
            order.put(data, range.start, now);
            message = rest;
        }
        message
    }
}

#[cfg(test)]
mod tests;
