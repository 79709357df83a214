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

use okl_job::{functions, opened::Opened};

use crate::{graph::Graph, job::Comm, partition::block, topology::Rank};

/// `SCOTCH_Num` where it has 32 bits.
type Num = i32;

/// An object of Scotch's.
type Object = *mut c_void;

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
    /// The first that there is under one of these names, and is right; why there is none: a name that is there, or the
    /// first of them.
    fn open(
        names: [&CStr; 3],
        package: &str,
        graphs: unsafe fn(Opened) -> Result<T, String>,
        is_right: impl Fn(Opened) -> Result<(), String>,
    ) -> Result<Self, String> {
        let mut wrong = None;
        for name in names {
            let Ok(library) = Opened::new(name) else {
                continue;
            };
            let found = is_right(library).and_then(|()| {
                // SAFETY: these are the functions' signatures where `SCOTCH_Num` has 32 bits.
                let (common, graphs) = unsafe { (Common::of(library)?, graphs(library)?) };
                // SAFETY: a function that says what it is called.
                match unsafe { (common.SCOTCH_numSizeof)() } as usize {
                    bytes if bytes == size_of::<Num>() => Ok(Self { common, graphs }),
                    bytes => Err(format!("its numbers have {} bits, not 32", 8 * bytes)),
                }
            });
            match found {
                Ok(found) => return Ok(found),
                Err(why) => {
                    wrong.get_or_insert(format!("{}: {why}", name.to_string_lossy()));
                }
            }
        }
        Err(wrong.unwrap_or_else(|| {
            let why = Opened::new(names[0]).err().unwrap_or_default();
            format!("the library of Debian's package {package} cannot be loaded: {why}")
        }))
    }
}

fn scotch() -> Result<&'static Library<OnOneRank>, String> {
    static SCOTCH: OnceLock<Result<Library<OnOneRank>, String>> = OnceLock::new();
    // Debian's name, Scotch's own, and that of a development package.
    let names = [c"libscotch-7.0.so", c"libscotch.so.7.0", c"libscotch.so"];
    let open = || Library::open(names, "libscotch-7.0", OnOneRank::of, |_| Ok(()));
    SCOTCH.get_or_init(open).as_ref().map_err(String::clone)
}

fn pt_scotch() -> Result<&'static Library<Distributed>, String> {
    static SCOTCH: OnceLock<Result<Library<Distributed>, String>> = OnceLock::new();
    let names = [
        c"libptscotch-7.0.so",
        c"libptscotch.so.7.0",
        c"libptscotch.so",
    ];
    let is_right = Opened::require_this_mpi;
    let open = || Library::open(names, "libptscotch-7.0", Distributed::of, is_right);
    SCOTCH.get_or_init(open).as_ref().map_err(String::clone)
}

/// Why there is no library that divides graphs that several ranks have, if there is none.
pub(crate) fn require_for_ranks() -> Result<(), String> {
    pt_scotch().map(|_| ())
}

/// What both libraries do with a graph of theirs.
struct Way {
    alloc: unsafe extern "C" fn() -> Object,
    bind: unsafe extern "C" fn(Object, Object, Object) -> c_int,
    part: unsafe extern "C" fn(Object, Num, Object, *mut Num) -> c_int,
    exit: unsafe extern "C" fn(Object),
}

/// Puts `parts` parts of a graph into `owners`, one for each element that is here; what went wrong.
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
) -> Result<(), String> {
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
        let one_thread = || (common.SCOTCH_contextThreadSpawn)(context, 1, std::ptr::null()) == 0;
        let done = if !is_apart {
            Err("it does not start")
        } else if !(ok(set(DETERMINISTIC, 1)) && one_thread() && ok(how(strategy))) {
            Err("it does not take the options")
        } else if !(ok(build(whole)) && ok((way.bind)(context, whole, bound))) {
            Err("it does not take the graph")
        } else if !ok((way.part)(bound, parts, strategy, owners.as_mut_ptr())) {
            Err("it does not divide the graph")
        } else {
            Ok(())
        };
        if is_begun {
            (common.SCOTCH_stratExit)(strategy);
            (way.exit)(bound);
            (way.exit)(whole);
            (common.SCOTCH_contextExit)(context);
        }
        for object in [strategy, bound, whole, context] {
            (common.SCOTCH_memFree)(object);
        }
        done.map_err(str::to_owned)
    }
}

/// A graph's arrays as Scotch wants them.
pub(crate) struct Arrays {
    starts: Vec<Num>,
    neighbours: Vec<Num>,
}

impl Arrays {
    /// An error if they are too large.
    pub(crate) fn of(graph: &Graph) -> Result<Self, String> {
        let starts: Result<Vec<Num>, _> = graph.starts.iter().map(|&at| at.try_into()).collect();
        let neighbours = graph.neighbours.iter().map(|&one| one as Num);
        let count = graph.neighbours.len();
        Ok(Self {
            starts: starts
                .map_err(|_| format!("the graph has {count} edges, more than 32 bits hold"))?,
            neighbours: neighbours.collect(),
        })
    }
}

fn ranks_of(owners: Vec<Num>, ranks: usize) -> Result<Vec<Rank>, String> {
    match owners
        .iter()
        .find(|owner| !(0..ranks as Num).contains(owner))
    {
        Some(owner) => Err(format!("it makes {owner} of {ranks} parts")),
        None => Ok(owners.into_iter().map(|owner| owner as Rank).collect()),
    }
}

/// Divides a graph into parts of about the same size, one for each rank, with few edges between them; what went wrong.
pub(crate) fn divide(graph: &Graph, ranks: usize) -> Result<Vec<Rank>, String> {
    let Library { common, graphs } = scotch()?;
    let size = graph.size();
    if is_trivial(size, graph.neighbours.len(), ranks) {
        return Ok(block(size, ranks));
    }
    let Arrays { starts, neighbours } = Arrays::of(graph)?;
    let mut owners: Vec<Num> = vec![0; size];
    let (first, end, none) = (starts.as_ptr(), starts[1..].as_ptr(), std::ptr::null());
    let (edges, to) = (neighbours.len() as Num, neighbours.as_ptr());
    // SAFETY: these are the library's functions; the graph points to arrays that are there until it ends.
    unsafe {
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
        divide_with(common, way, init, build, |_| 0, parts, &mut owners)?;
    }
    ranks_of(owners, ranks)
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
pub(crate) fn divide_rows(
    rows: &Arrays,
    ranks: usize,
    communicator: Comm,
) -> Result<Vec<Rank>, String> {
    let Library { common, graphs } = pt_scotch()?;
    let Arrays { starts, neighbours } = rows;
    let size = starts.len() - 1;
    let mut owners: Vec<Num> = vec![0; size];
    let (first, end, none) = (starts.as_ptr(), starts[1..].as_ptr(), std::ptr::null());
    let (edges, to) = (neighbours.len() as Num, neighbours.as_ptr());
    let (size, parts) = (size as Num, ranks as Num);
    // SAFETY: as above; the communicator is one of the MPI that the library calls.
    unsafe {
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
        divide_with(common, way, init, build, how, parts, &mut owners)?;
    }
    ranks_of(owners, ranks)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::{
        random::Random,
        topology::{Links, Topology},
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

    /// Tells `scripts/test`, which counts such lines, that a test was not run. Not `eprintln`: what that
    /// prints is hidden where a test passes.
    fn skip(test: &str, why: &str) {
        let line = format!("\nskip scotch::{test}: {why}\n");
        std::io::stderr().write_all(line.as_bytes()).ok();
    }

    #[test]
    fn parts_are_even_have_short_borders_and_are_always_the_same() {
        if let Err(why) = scotch() {
            return skip(
                "parts_are_even_have_short_borders_and_are_always_the_same",
                &why,
            );
        }
        let graph = mesh(60).graph(0, &[]);
        for ranks in [2, 3, 4, 7] {
            let owners = divide(&graph, ranks).expect("it is divided");
            assert_eq!(Ok(&owners), divide(&graph, ranks).as_ref());
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
        if let Err(why) = scotch() {
            return skip("graphs_of_all_small_shapes_are_divided", &why);
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
