//! Division of graphs by Scotch, on one rank, and by PT-Scotch, where each rank has a block of the elements. Their
//! libraries are opened where they are needed.
//!
//! Guarantee: the same graph is divided the same way in every run, by PT-Scotch on the same number of ranks: random
//! numbers begin anew for each graph, messages are taken in a fixed order, and there is one thread. (Several threads of
//! Scotch's would not do that.) A library of PT-Scotch's that belongs to another MPI is not used.

use std::{
    ffi::{CStr, c_double, c_int, c_void},
    sync::OnceLock,
};

use crate::{
    graph::Graph,
    job::Comm,
    partition::{Rank, block},
};

/// `SCOTCH_Num` where it has 32 bits.
type Num = i32;

/// An object of Scotch's.
type Object = *mut c_void;

macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($name:ident($($param:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "they are called so")]
        struct $table {
            $($name: unsafe extern "C" fn($($param),*) $(-> $result)?,)*
        }

        impl $table {
            /// # Safety
            /// `library` is open.
            unsafe fn of(library: *mut c_void) -> Option<Self> {
                Some(Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0").as_ptr();
                        // SAFETY: a string; the caller's promise.
                        let found = unsafe { libc::dlsym(library, name.cast()) };
                        if found.is_null() {
                            return None;
                        }
                        // SAFETY: these are the functions' signatures where `SCOTCH_Num` has 32 bits.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($param),*) $(-> $result)?,
                            >(found)
                        }
                    },)*
                })
            }
        }
    };
}
functions! {
    /// Functions of both libraries, under their own names.
    Common {
        SCOTCH_numSizeof() -> c_int;
        SCOTCH_memFree(Object);
        SCOTCH_contextAlloc() -> Object;
        SCOTCH_contextInit(Object) -> c_int;
        SCOTCH_contextOptionSetNum(Object, c_int, Num) -> c_int;
        SCOTCH_contextRandomClone(Object) -> c_int;
        SCOTCH_contextRandomSeed(Object, Num);
        SCOTCH_contextThreadSpawn(Object, c_int, *const c_int) -> c_int;
        SCOTCH_contextExit(Object);
        SCOTCH_stratAlloc() -> Object;
        SCOTCH_stratInit(Object) -> c_int;
        SCOTCH_stratExit(Object);
    }
}
functions! {
    /// Functions for graphs on one rank.
    OnOneRank {
        SCOTCH_contextBindGraph(Object, Object, Object) -> c_int;
        SCOTCH_graphAlloc() -> Object;
        SCOTCH_graphInit(Object) -> c_int;
        SCOTCH_graphBuild(
            Object, Num, Num, *const Num, *const Num, *const Num, *const Num, Num, *const Num, *const Num
        ) -> c_int;
        SCOTCH_graphPart(Object, Num, Object, *mut Num) -> c_int;
        SCOTCH_graphExit(Object);
    }
}
functions! {
    /// Functions for graphs on several ranks.
    Distributed {
        SCOTCH_contextBindDgraph(Object, Object, Object) -> c_int;
        SCOTCH_dgraphAlloc() -> Object;
        SCOTCH_dgraphInit(Object, Comm) -> c_int;
        SCOTCH_dgraphBuild(
            Object, Num, Num, Num, *const Num, *const Num, *const Num, *const Num, Num, Num, *const Num, *const Num, *const Num
        ) -> c_int;
        SCOTCH_dgraphPart(Object, Num, Object, *mut Num) -> c_int;
        SCOTCH_dgraphExit(Object);
        SCOTCH_stratDgraphMapBuild(Object, Num, Num, Num, c_double) -> c_int;
    }
}

/// An open library.
struct Library<T> {
    common: Common,
    graphs: T,
}

impl<T> Library<T> {
    /// The first that there is under one of these names, and is right.
    fn open(
        names: [&CStr; 3],
        graphs: unsafe fn(*mut c_void) -> Option<T>,
        is_right: impl Fn(*mut c_void) -> bool,
    ) -> Option<Self> {
        names.into_iter().find_map(|name| {
            // SAFETY: opens a library; it stays open.
            unsafe {
                let library = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
                let is_one = !library.is_null() && is_right(library);
                let common = is_one.then(|| Common::of(library))??;
                let bytes = (common.SCOTCH_numSizeof)();
                let graphs = graphs(library)?;
                (bytes as usize == size_of::<Num>()).then_some(Self { common, graphs })
            }
        })
    }
}

fn scotch() -> Option<&'static Library<OnOneRank>> {
    static SCOTCH: OnceLock<Option<Library<OnOneRank>>> = OnceLock::new();
    // Debian's name, Scotch's own, and that of a development package.
    let names = [c"libscotch-7.0.so", c"libscotch.so.7.0", c"libscotch.so"];
    let open = || Library::open(names, OnOneRank::of, |_| true);
    SCOTCH.get_or_init(open).as_ref()
}

fn pt_scotch() -> Option<&'static Library<Distributed>> {
    static SCOTCH: OnceLock<Option<Library<Distributed>>> = OnceLock::new();
    let names = [
        c"libptscotch-7.0.so",
        c"libptscotch.so.7.0",
        c"libptscotch.so",
    ];
    // One that measures a program's MPI has functions of other names only.
    let mpi = |library| {
        // SAFETY: a string, and a library that is open, or all that this one sees.
        unsafe { libc::dlsym(library, c"PMPI_Init".as_ptr()) }
    };
    let is_right = |library| mpi(library) == mpi(libc::RTLD_DEFAULT);
    let open = || Library::open(names, Distributed::of, is_right);
    SCOTCH.get_or_init(open).as_ref()
}

/// Whether there is a library that divides graphs on one rank.
pub(crate) fn is_there() -> bool {
    scotch().is_some()
}

/// Whether there is one that divides graphs that several ranks have.
pub(crate) fn is_there_for_ranks() -> bool {
    pt_scotch().is_some()
}

/// What both libraries do with a graph of theirs.
struct Way {
    alloc: unsafe extern "C" fn() -> Object,
    bind: unsafe extern "C" fn(Object, Object, Object) -> c_int,
    part: unsafe extern "C" fn(Object, Num, Object, *mut Num) -> c_int,
    exit: unsafe extern "C" fn(Object),
}

/// Puts `parts` parts of a graph into `owners`, one for each element that is here; whether that was done.
///
/// # Safety
/// All functions belong to one library, and do what they are called: `init` makes a graph, `build` fills it from arrays
/// that are there until it ends; `strategy` may change a strategy.
unsafe fn divide_with(
    common: &Common,
    way: Way,
    init: impl Fn(Object) -> c_int,
    build: impl FnOnce(Object) -> c_int,
    strategy: impl FnOnce(Object) -> c_int,
    parts: Num,
    owners: &mut [Num],
) -> bool {
    const DETERMINISTIC: c_int = 0;
    let how = strategy;
    // SAFETY: objects are made, used and ended in the order that Scotch demands; the caller's promise.
    unsafe {
        let graphs @ [whole, bound] = [(); 2].map(|()| (way.alloc)());
        let context = (common.SCOTCH_contextAlloc)();
        let strategy = (common.SCOTCH_stratAlloc)();
        let ok = |status: c_int| status == 0;
        // A distributed graph changes what random numbers begin with, and so comes before those of the context.
        let is_begun = graphs.iter().all(|&one| ok(init(one)))
            & ok((common.SCOTCH_contextInit)(context))
            & ok((common.SCOTCH_stratInit)(strategy));
        // Random numbers of its own.
        let is_apart = is_begun && ok((common.SCOTCH_contextRandomClone)(context));
        if is_apart {
            (common.SCOTCH_contextRandomSeed)(context, 1);
        }
        let set = |number, value| (common.SCOTCH_contextOptionSetNum)(context, number, value);
        let is_done = is_apart
            && ok(set(DETERMINISTIC, 1))
            && ok((common.SCOTCH_contextThreadSpawn)(
                context,
                1,
                std::ptr::null(),
            ))
            && ok(how(strategy))
            && ok(build(whole))
            && ok((way.bind)(context, whole, bound))
            && ok((way.part)(bound, parts, strategy, owners.as_mut_ptr()));
        if is_begun {
            (common.SCOTCH_stratExit)(strategy);
            (way.exit)(bound);
            (way.exit)(whole);
            (common.SCOTCH_contextExit)(context);
        }
        for object in [strategy, bound, whole, context] {
            (common.SCOTCH_memFree)(object);
        }
        is_done
    }
}

/// A graph's arrays as Scotch wants them; `None` if they are too large.
fn arrays(graph: &Graph) -> Option<(Vec<Num>, Vec<Num>)> {
    let starts: Result<Vec<Num>, _> = graph.starts.iter().map(|&at| at.try_into()).collect();
    let neighbours = graph.neighbours.iter().map(|&one| one as Num);
    Some((starts.ok()?, neighbours.collect()))
}

fn ranks_of(owners: Vec<Num>, ranks: usize) -> Option<Vec<Rank>> {
    let is_right = owners.iter().all(|owner| (0..ranks as Num).contains(owner));
    is_right.then(|| owners.into_iter().map(|owner| owner as Rank).collect())
}

/// Divides a graph into parts of about the same size, one for each rank, with few edges between them; `None` where that
/// fails.
pub(crate) fn divide(graph: &Graph, ranks: usize) -> Option<Vec<Rank>> {
    let Library { common, graphs } = scotch()?;
    let size = graph.size();
    if is_trivial(size, graph.neighbours.len(), ranks) {
        return Some(block(size, ranks));
    }
    let (starts, neighbours) = arrays(graph)?;
    let mut owners: Vec<Num> = vec![0; size];
    let (first, end, none) = (starts.as_ptr(), starts[1..].as_ptr(), std::ptr::null());
    let (edges, to) = (neighbours.len() as Num, neighbours.as_ptr());
    // SAFETY: these are the library's functions; the graph points to arrays that are there until it ends.
    let is_done = unsafe {
        let way = Way {
            alloc: graphs.SCOTCH_graphAlloc,
            bind: graphs.SCOTCH_contextBindGraph,
            part: graphs.SCOTCH_graphPart,
            exit: graphs.SCOTCH_graphExit,
        };
        let init = |graph| (graphs.SCOTCH_graphInit)(graph);
        let build = |graph| {
            let size = size as Num;
            (graphs.SCOTCH_graphBuild)(graph, 0, size, first, end, none, none, edges, to, none)
        };
        let parts = ranks as Num;
        divide_with(common, way, init, build, |_| 0, parts, &mut owners)
    };
    is_done.then(|| ranks_of(owners, ranks))?
}

/// Whether there is nothing to divide: Scotch would divide by zero.
pub(crate) fn is_trivial(size: usize, edges: usize, ranks: usize) -> bool {
    size < ranks || edges == 0
}

/// How much larger a part may be than it need be. (As much as Scotch makes of it on one rank; left to itself, PT-Scotch
/// takes five times that.)
const IMBALANCE: c_double = 0.01;

/// The same for a graph that is not trivial, of which each rank of the communicator has consecutive rows, in the order
/// of ranks: the owners of these. Collective.
pub(crate) fn divide_rows(graph: &Graph, ranks: usize, communicator: Comm) -> Option<Vec<Rank>> {
    let Library { common, graphs } = pt_scotch()?;
    let (starts, neighbours) = arrays(graph)?;
    let mut owners: Vec<Num> = vec![0; graph.size()];
    let (first, end, none) = (starts.as_ptr(), starts[1..].as_ptr(), std::ptr::null());
    let (edges, to) = (neighbours.len() as Num, neighbours.as_ptr());
    let (size, parts) = (graph.size() as Num, ranks as Num);
    // SAFETY: as above; the communicator is one of the MPI that the library calls.
    let is_done = unsafe {
        let way = Way {
            alloc: graphs.SCOTCH_dgraphAlloc,
            bind: graphs.SCOTCH_contextBindDgraph,
            part: graphs.SCOTCH_dgraphPart,
            exit: graphs.SCOTCH_dgraphExit,
        };
        let init = |graph| (graphs.SCOTCH_dgraphInit)(graph, communicator);
        let build = |graph| {
            (graphs.SCOTCH_dgraphBuild)(
                graph, 0, size, size, first, end, none, none, edges, edges, to, none, none,
            )
        };
        let how =
            |strategy| (graphs.SCOTCH_stratDgraphMapBuild)(strategy, 0, parts, parts, IMBALANCE);
        divide_with(common, way, init, build, how, parts, &mut owners)
    };
    is_done.then(|| ranks_of(owners, ranks))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        partition::{Links, Topology},
        random::Random,
    };

    /// Cells of a mesh of `width` times `width`, numbered at random.
    fn mesh(width: usize) -> Topology {
        let cells = width * width;
        let number = |cell: usize| (cell * 7919 % cells) as i32;
        let mut targets = Vec::new();
        for cell in 0..cells {
            let neighbours = [
                (cell % width + 1 < width).then_some(cell + 1),
                Some(cell + width).filter(|&next| next < cells),
            ];
            for next in neighbours.into_iter().flatten() {
                targets.extend([number(cell), number(next)]);
            }
        }
        Topology {
            sizes: vec![cells, targets.len() / 2],
            maps: vec![Links {
                from: 1,
                to: 0,
                arity: 2,
                targets,
            }],
        }
    }

    fn cut(graph: &Graph, owners: &[Rank]) -> usize {
        let elements = 0..owners.len();
        let ends = elements.flat_map(|one| {
            graph
                .of(one)
                .iter()
                .map(move |&other| (one, other as usize))
        });
        ends.filter(|&(one, other)| owners[one] != owners[other])
            .count()
            / 2
    }

    #[test]
    fn parts_are_even_have_short_borders_and_are_always_the_same() {
        if !is_there() {
            return eprintln!("skipped: there is no libscotch-7.0");
        }
        let graph = mesh(60).graph(0, &[]);
        for ranks in [2, 3, 4, 7] {
            let owners = divide(&graph, ranks).expect("it is divided");
            assert_eq!(Some(&owners), divide(&graph, ranks).as_ref());
            let mut counts = vec![0; ranks];
            for &owner in &owners {
                counts[owner as usize] += 1;
            }
            let even = 3600 / ranks;
            assert!(
                counts
                    .iter()
                    .all(|&count| count * 10 > even * 9 && count * 10 < even * 11),
                "{counts:?}"
            );
            let (found, blocks) = (cut(&graph, &owners), cut(&graph, &block(3600, ranks)));
            assert!(found <= 60 * ranks, "{found} edges are cut");
            assert!(
                found * 10 < blocks,
                "{found} edges are cut, {blocks} by blocks"
            );
        }
    }

    #[test]
    fn graphs_of_all_small_shapes_are_divided() {
        if !is_there() {
            return eprintln!("skipped: there is no libscotch-7.0");
        }
        let mut random = Random(5);
        for _ in 0..300 {
            let (size, rows) = (random.below(12), random.below(12));
            let arity = 1 + random.below(3);
            let targets = (0..rows * arity * size.min(1)).map(|_| random.below(size) as i32);
            let topology = Topology {
                sizes: vec![size, rows * size.min(1)],
                maps: vec![Links {
                    from: 1,
                    to: 0,
                    arity,
                    targets: targets.collect(),
                }],
            };
            let owners = divide(&topology.graph(0, &[]), 1 + random.below(6));
            assert_eq!(owners.expect("it is divided").len(), size);
        }
    }
}
