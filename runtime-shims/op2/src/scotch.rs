//! Division of graphs by Scotch, whose library is opened where it is needed.
//!
//! Guarantee: the same graph is divided the same way in every run. (Several threads of Scotch's would not do that;
//! it gets one.)

use std::{
    ffi::{CStr, c_int, c_void},
    sync::OnceLock,
};

use crate::{
    graph::Graph,
    partition::{Rank, block},
};

/// `SCOTCH_Num` where it has 32 bits.
type Num = i32;

/// An object of Scotch's.
type Object = *mut c_void;

macro_rules! scotch {
    ($($name:ident($($param:ty),*) $(-> $result:ty)?;)*) => {
        /// The library's functions, under their own names.
        #[allow(non_snake_case, reason = "they are called so")]
        struct Scotch {
            $($name: unsafe extern "C" fn($($param),*) $(-> $result)?,)*
        }

        impl Scotch {
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
scotch! {
    SCOTCH_numSizeof() -> c_int;
    SCOTCH_memFree(Object);
    SCOTCH_contextAlloc() -> Object;
    SCOTCH_contextInit(Object) -> c_int;
    SCOTCH_contextRandomClone(Object) -> c_int;
    SCOTCH_contextRandomSeed(Object, Num);
    SCOTCH_contextThreadSpawn(Object, c_int, *const c_int) -> c_int;
    SCOTCH_contextBindGraph(Object, Object, Object) -> c_int;
    SCOTCH_contextExit(Object);
    SCOTCH_graphAlloc() -> Object;
    SCOTCH_graphInit(Object) -> c_int;
    SCOTCH_graphBuild(
        Object, Num, Num, *const Num, *const Num, *const Num, *const Num, Num, *const Num, *const Num
    ) -> c_int;
    SCOTCH_graphPart(Object, Num, Object, *mut Num) -> c_int;
    SCOTCH_graphExit(Object);
    SCOTCH_stratAlloc() -> Object;
    SCOTCH_stratInit(Object) -> c_int;
    SCOTCH_stratExit(Object);
}

/// What the library is called: Debian's name, Scotch's own, and that of a development package.
const NAMES: [&CStr; 3] = [c"libscotch-7.0.so", c"libscotch.so.7.0", c"libscotch.so"];

fn scotch() -> Option<&'static Scotch> {
    static SCOTCH: OnceLock<Option<Scotch>> = OnceLock::new();
    let open = || {
        NAMES.into_iter().find_map(|name| {
            // SAFETY: opens a library; it stays open.
            unsafe {
                let library = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
                let scotch = (!library.is_null()).then(|| Scotch::of(library))??;
                let bytes = (scotch.SCOTCH_numSizeof)();
                (bytes as usize == size_of::<Num>()).then_some(scotch)
            }
        })
    };
    SCOTCH.get_or_init(open).as_ref()
}

/// Whether there is a library that this module can use.
pub(crate) fn is_there() -> bool {
    scotch().is_some()
}

/// Divides a graph into parts of about the same size, one for each rank, with few edges between them; `None` where that
/// fails.
pub(crate) fn divide(graph: &Graph, ranks: usize) -> Option<Vec<Rank>> {
    let scotch = scotch()?;
    let size = graph.starts.len() - 1;
    if size < ranks || graph.neighbours.is_empty() {
        // Scotch divides by zero.
        return Some(block(size, ranks));
    }
    let starts: Result<Vec<Num>, _> = graph.starts.iter().map(|&at| at.try_into()).collect();
    let starts = starts.ok()?;
    let neighbours = graph.neighbours.iter().map(|&one| one as Num);
    let neighbours: Vec<Num> = neighbours.collect();
    let mut owners: Vec<Num> = vec![0; size];
    let (end, none) = (starts[1..].as_ptr(), std::ptr::null());
    let (edges, parts) = (neighbours.len() as Num, ranks as Num);
    // SAFETY: objects are made, used and ended in the order that Scotch demands; a graph only points to the arrays,
    // which are there until it ends.
    let is_done = unsafe {
        let objects @ [whole, bound] = [(); 2].map(|()| (scotch.SCOTCH_graphAlloc)());
        let (context, strategy) = ((scotch.SCOTCH_contextAlloc)(), (scotch.SCOTCH_stratAlloc)());
        let ok = |status: c_int| status == 0;
        let is_begun = objects
            .iter()
            .all(|&one| ok((scotch.SCOTCH_graphInit)(one)))
            & ok((scotch.SCOTCH_contextInit)(context))
            & ok((scotch.SCOTCH_stratInit)(strategy));
        // Random numbers of its own.
        let is_apart = is_begun && ok((scotch.SCOTCH_contextRandomClone)(context));
        if is_apart {
            (scotch.SCOTCH_contextRandomSeed)(context, 1);
        }
        let is_done = is_apart
            && ok((scotch.SCOTCH_contextThreadSpawn)(
                context,
                1,
                std::ptr::null(),
            ))
            && ok((scotch.SCOTCH_graphBuild)(
                whole,
                0,
                size as Num,
                starts.as_ptr(),
                end,
                none,
                none,
                edges,
                neighbours.as_ptr(),
                none,
            ))
            && ok((scotch.SCOTCH_contextBindGraph)(context, whole, bound))
            && ok((scotch.SCOTCH_graphPart)(
                bound,
                parts,
                strategy,
                owners.as_mut_ptr(),
            ));
        if is_begun {
            (scotch.SCOTCH_stratExit)(strategy);
            (scotch.SCOTCH_graphExit)(bound);
            (scotch.SCOTCH_graphExit)(whole);
            (scotch.SCOTCH_contextExit)(context);
        }
        for object in [strategy, bound, whole, context] {
            (scotch.SCOTCH_memFree)(object);
        }
        is_done
    };
    let is_right = is_done && owners.iter().all(|owner| (0..parts).contains(owner));
    is_right.then(|| owners.into_iter().map(|owner| owner as Rank).collect())
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
