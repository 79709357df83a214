//! How the program wants its mesh to be: `op_partition` and `op_renumber`.

use std::{
    ffi::{c_char, c_int},
    sync::atomic::{AtomicI32, Ordering::Relaxed},
};

use crate::{
    argument::same_type,
    backend, data, distribute, job,
    layout::{Dat, Map, Set},
    local,
    partition::{self, Base},
    report::{fatal, text, warn},
    scotch, settings, storage,
    topology::{Rank, Topology},
    waiting,
};

/// A way of distributing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// By coordinates where there are any, in blocks otherwise.
    Default,
    Block,
    /// By coordinates.
    Geometric,
    /// Few elements with neighbours elsewhere.
    Graph,
    /// The same, found by rank 0 alone.
    GraphOnOneRank,
    /// By owners that the program gives.
    External,
    /// Without regard to anything.
    Random,
}

/// What `library` and `routine` stand for, and whether it is that.
fn way_of(library: &str, routine: &str) -> Option<(Way, bool)> {
    let upper = |name: &str| name.to_ascii_uppercase();
    Some(match (&*upper(library), &*upper(routine)) {
        ("", _) => (Way::Default, true),
        ("BLOCK", _) => (Way::Block, true),
        ("GEOM" | "RCB", _) | ("PARMETIS", "GEOM") => (Way::Geometric, true),
        ("EXTERNAL", _) => (Way::External, true),
        ("PTSCOTCH", _) => (Way::Graph, true),
        ("SCOTCH", _) => (Way::GraphOnOneRank, true),
        ("PARMETIS" | "KAHIP", _) => (Way::Graph, false),
        ("RANDOM", _) => (Way::Random, true),
        ("INERTIAL", _) => (Way::Default, false),
        _ => return None,
    })
}

/// Distributes the mesh. `set` or, where it is not null, the set that `map` leads to is divided; other sets follow.
/// There are recursive coordinate bisection by `coords`, division of a graph, where elements in a row of `map`
/// belong together, and contiguous blocks; where `library` asks for something else, the nearest of them is taken.
///
/// # Safety
/// The names are strings; the others are null or declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_partition(
    library: *const c_char,
    routine: *const c_char,
    set: *const Set,
    map: *const Map,
    coords: *const Dat,
) {
    waiting::run_for("op_partition");
    settings::require_start("op_partition");
    // SAFETY: the caller's promise.
    unsafe {
        let (library, routine) = (text(library), text(routine));
        let Some((way, is_it)) = way_of(library, routine) else {
            fatal(&format!(
                "op_partition: \"{library}\" is not known; there are \"\", \"BLOCK\", \"GEOM\", \"PTSCOTCH\", \"SCOTCH\", \"EXTERNAL\" and \"RANDOM\""
            ));
        };
        IS_PARTITIONED.store(1, Relaxed);
        if job::ranks() == 1 || !distribute::is_possible() {
            return;
        }
        distribute::end();
        storage::lay_all_by_element();
        let topology = distribute::topology();
        let target = match (map.as_ref(), set.as_ref()) {
            (Some(map), _) => Some((*map.to).index as usize),
            (None, Some(set)) => Some(set.index as usize),
            (None, None) => None,
        };
        let Some(set) = target.or_else(|| topology.most_used()) else {
            return;
        };
        let map = map.as_ref().map(|map| map.index as usize);
        let Division { owners, failed } = match way {
            Way::Graph | Way::GraphOnOneRank => by_graph(way, (&topology, set, map.as_slice())),
            _ => Division::default(),
        };
        let (base, taken) = match (owners, way, coords.as_ref()) {
            (Some((owners, taken)), ..) => (Some(Base { set, owners }), taken),
            (None, Way::External, Some(owners)) => (Some(external(owners)), ""),
            (None, Way::External, None) => fatal("op_partition EXTERNAL: the owners are missing"),
            (None, Way::Geometric, None) => fatal("op_partition: the coordinates are missing"),
            (None, Way::Random, _) => {
                let owners = partition::scatter(topology.sizes[set], job::ranks());
                (Some(Base { set, owners }), "")
            }
            // Each rank keeps what it has declared.
            (None, Way::Block, _) | (None, _, None) if local::is_local() => (None, "blocks are"),
            (None, Way::Block, _) | (None, _, None) => {
                let owners = partition::block(topology.sizes[set], job::ranks());
                (Some(Base { set, owners }), "blocks are")
            }
            (None, _, Some(coords)) => {
                let base = by_place(&topology, target, coords);
                (Some(base), "recursive coordinate bisection is")
            }
        };
        if let Some(why) = failed {
            warn(&format!(
                "op_partition: {library}: {why}: {taken} used instead"
            ));
        } else if !is_it {
            warn(&format!(
                "op_partition: there is no {library}: {taken} used instead"
            ));
        }
        distribute::change(|wishes| wishes.base = base);
    }
}

/// Whether the program has called `op_partition`.
#[unsafe(export_name = "OP_is_partitioned")]
static IS_PARTITIONED: AtomicI32 = AtomicI32::new(0);

/// The mesh is no more.
pub(crate) fn clear() {
    IS_PARTITIONED.store(0, Relaxed);
}

/// See [`IS_PARTITIONED`].
#[unsafe(no_mangle)]
pub extern "C" fn op_is_partitioned() -> c_int {
    IS_PARTITIONED.load(Relaxed)
}

/// Distributes the mesh as it is, as the first loop does where this is not called.
#[unsafe(no_mangle)]
pub extern "C" fn op_halo_create() {
    waiting::run_for("op_halo_create");
    settings::require_start("op_halo_create");
    distribute::for_loops();
}

/// Nothing: what is here of other ranks goes with the mesh.
#[unsafe(no_mangle)]
pub extern "C" fn op_halo_destroy() {}

/// Nothing: who owns what is forgotten with the mesh.
#[unsafe(no_mangle)]
pub extern "C" fn op_partition_destroy() {}

/// `op_partition` with "EXTERNAL".
///
/// # Safety
/// See [`op_partition`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_partition_external(set: *const Set, owners: *const Dat) {
    waiting::run_for("op_partition_external");
    let (library, none) = (c"EXTERNAL".as_ptr(), std::ptr::null());
    // SAFETY: the caller's promise.
    unsafe { op_partition(library, c"".as_ptr(), set, none, owners) };
}

/// `op_partition` with "RANDOM".
///
/// # Safety
/// See [`op_partition`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_partition_random(set: *const Set) {
    waiting::run_for("op_partition_random");
    let (library, none) = (c"RANDOM".as_ptr(), std::ptr::null());
    // SAFETY: the caller's promise.
    unsafe { op_partition(library, c"".as_ptr(), set, none, std::ptr::null()) };
}

/// `op_partition` with "INERTIAL": the set that has the coordinates is divided.
///
/// # Safety
/// See [`op_partition`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_partition_inertial(coords: *const Dat) {
    waiting::run_for("op_partition_inertial");
    // SAFETY: the caller's promise.
    let Some(set) = (unsafe { coords.as_ref().map(|coords| coords.set) }) else {
        fatal("op_partition_inertial: the coordinates are missing");
    };
    let (library, none) = (c"INERTIAL".as_ptr(), std::ptr::null());
    // SAFETY: the caller's promise.
    unsafe { op_partition(library, c"".as_ptr(), set, none, coords) };
}

/// Gives the elements other local numbers, so that those near each other in the mesh are near each other in memory: those
/// of the set that `map` leads to by the graph in which elements of a row belong together; other sets follow.
/// What the program sees through the library stays as it is.
///
/// # Safety
/// `map` is null or declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_renumber(map: *const Map) {
    waiting::run_for("op_renumber");
    settings::require_start("op_renumber");
    // SAFETY: the caller's promise.
    let Some(map) = (unsafe { map.as_ref() }) else {
        fatal("op_renumber: the map is missing");
    };
    let stays = |why: &str| warn(&format!("op_renumber: the mesh stays as it is: {why}"));
    if !distribute::is_possible() {
        return stays("there are data on two sets (op_decl_dat_overlay)");
    }
    if backend::is_reproducible() {
        return stays("with OKL_REPRODUCIBLE loops run in the program's order");
    }
    if settings::keeps_user_memory() {
        return stays("OP_NO_REALLOC leaves data where the program has them");
    }
    distribute::change(|wishes| wishes.renumbering = Some(map.index as usize));
}

/// A mesh, one of its sets, and the maps that say which of its elements belong together.
type InGraph<'a> = (&'a Topology, usize, &'a [usize]);

/// A set divided by the graph of its elements.
#[derive(Default)]
struct Division {
    /// The owners, and what has found them.
    owners: Option<(Vec<Rank>, &'static str)>,
    /// Why that is not what was asked for.
    failed: Option<String>,
}

fn by_graph(way: Way, rows: InGraph) -> Division {
    distribute::require_same(rows.0);
    let mut failed = None;
    if way == Way::Graph {
        match by_graph_together(rows) {
            Ok(owners) => {
                let owners = Some((owners, "PT-Scotch is"));
                return Division { owners, failed };
            }
            Err(why) => failed = Some(format!("PT-Scotch: {why}")),
        }
    }
    match by_graph_on_one_rank(rows) {
        Ok(owners) => {
            let owners = Some((owners, "Scotch on rank 0 is"));
            Division { owners, failed }
        }
        Err(why) => {
            let failed = failed.into_iter().chain([format!("Scotch: {why}")]);
            let failed: Vec<String> = failed.collect();
            Division {
                owners: None,
                failed: Some(failed.join("; ")),
            }
        }
    }
}

/// Owners by the graph of which each rank has a block; what went wrong, the same on all ranks.
fn by_graph_together((topology, set, maps): InGraph) -> Result<Vec<Rank>, String> {
    job::agree(scotch::require_for_ranks())?;
    let (size, ranks) = (topology.sizes[set], job::ranks());
    let starts: Vec<usize> = (0..=ranks).map(|rank| size * rank / ranks).collect();
    let mine = starts[job::rank()]..starts[job::rank() + 1];
    let graph = topology.rows_of_graph(set, maps, mine);
    let has_edges = !job::all(graph.neighbours.is_empty());
    if scotch::is_trivial(size, usize::from(has_edges), ranks) {
        return Ok(partition::block(size, ranks));
    }
    let rows = job::agree(scotch::Arrays::of(&graph))?;
    let owners = job::agree(scotch::divide_rows(&rows, ranks, job::communicator()))?;
    let owners = owners.into_iter().flat_map(Rank::to_ne_bytes);
    let counts: Vec<usize> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let all = job::all_gather_elements(&owners.collect::<Vec<u8>>(), &counts, size_of::<Rank>());
    Ok(ranks_of(&all))
}

fn ranks_of(bytes: &[u8]) -> Vec<Rank> {
    let ranks = bytes.as_chunks().0.iter();
    ranks.map(|&one| Rank::from_ne_bytes(one)).collect()
}

/// The same on rank 0, so that all ranks have the same owners.
fn by_graph_on_one_rank((topology, set, maps): InGraph) -> Result<Vec<Rank>, String> {
    let owners = match job::rank() {
        0 => scotch::divide(&topology.graph(set, maps), job::ranks()),
        _ => Ok(vec![0; topology.sizes[set]]),
    };
    let owners = job::agree(owners)?.into_iter();
    let mut bytes: Vec<u8> = owners.flat_map(Rank::to_ne_bytes).collect();
    job::broadcast(&mut bytes, 0);
    Ok(ranks_of(&bytes))
}

/// Divides the set `target` by the place of its elements, or, where that is not known, the set that has coordinates.
///
/// # Safety
/// `coords` is declared, and the mesh is whole.
unsafe fn by_place(topology: &Topology, target: Option<usize>, coords: &Dat) -> Base {
    // SAFETY: the caller's promise.
    let (set, points) = unsafe { ((*coords.set).index as usize, points(coords)) };
    let dim = coords.dim as usize;
    let map = target.and_then(|target| {
        let mut maps = topology.maps.iter();
        maps.find(|map| map.from == target && map.to == set && target != set)
    });
    let ranks = job::ranks();
    let Some(map) = map else {
        let owners = partition::bisect(&points, dim, ranks);
        return Base { set, owners };
    };
    let centres = (0..topology.sizes[map.from]).flat_map(|element| {
        let ends = map.of(element);
        let points = &points;
        (0..dim).map(move |axis| {
            let along = ends.iter().map(|&to| points[to as usize * dim + axis]);
            along.sum::<f64>() / ends.len() as f64
        })
    });
    let centres: Vec<f64> = centres.collect();
    Base {
        owners: partition::bisect(&centres, dim, ranks),
        set: map.from,
    }
}

/// # Safety
/// `coords` is declared, and the mesh is whole.
unsafe fn points(coords: &Dat) -> Vec<f64> {
    // SAFETY: the caller's promise.
    unsafe {
        let type_name = text(coords.type_name);
        let bytes = data::bytes(coords);
        if same_type(type_name, "double") {
            let all = bytes.as_chunks().0.iter();
            all.map(|&one| f64::from_ne_bytes(one)).collect()
        } else if same_type(type_name, "float") {
            let all = bytes.as_chunks().0.iter();
            all.map(|&one| f64::from(f32::from_ne_bytes(one))).collect()
        } else {
            fatal(&format!(
                "op_partition: {} is of type \"{type_name}\", but coordinates are of type \"double\" or \"float\"",
                text(coords.name)
            ))
        }
    }
}

/// # Safety
/// `owners` is declared, and the mesh is whole.
unsafe fn external(owners: &Dat) -> Base {
    // SAFETY: the caller's promise.
    unsafe {
        let (name, type_name) = (text(owners.name), text(owners.type_name));
        if !same_type(type_name, "int") || owners.dim != 1 {
            fatal(&format!(
                "op_partition EXTERNAL: {name} has {} components of type \"{type_name}\"; an owner is one \"int\"",
                owners.dim
            ));
        }
        let set = &*owners.set;
        let bytes = data::bytes(owners);
        let all = bytes.as_chunks().0.iter();
        let all: Vec<i32> = all.map(|&one| i32::from_ne_bytes(one)).collect();
        for (element, &owner) in all.iter().enumerate() {
            if !(0..job::ranks() as i32).contains(&owner) {
                fatal(&format!(
                    "op_partition EXTERNAL: element {element} of {} belongs to rank {owner}; there are 0 to {}",
                    text(set.name),
                    job::ranks() - 1
                ));
            }
        }
        Base {
            set: set.index as usize,
            owners: all.into_iter().map(|owner| owner as Rank).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_op2_are_known() {
        assert_eq!(way_of("", ""), Some((Way::Default, true)));
        assert_eq!(way_of("parmetis", "geom"), Some((Way::Geometric, true)));
        assert_eq!(way_of("PTSCOTCH", "KWAY"), Some((Way::Graph, true)));
        assert_eq!(way_of("scotch", ""), Some((Way::GraphOnOneRank, true)));
        assert_eq!(way_of("PARMETIS", "KWAY"), Some((Way::Graph, false)));
        assert_eq!(way_of("INERTIAL", ""), Some((Way::Default, false)));
        assert_eq!(way_of("random", ""), Some((Way::Random, true)));
        assert_eq!(way_of("METIS", "KWAY"), None);
    }
}
