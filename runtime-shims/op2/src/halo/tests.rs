//! Random meshes on simulated ranks.

use super::*;
use crate::{
    partition::{Base, bisect, block},
    random::Random,
};

/// Sets and maps of all small sizes; some maps lead to near elements, some anywhere; sets may be empty.
fn random_mesh(random: &mut Random) -> Topology {
    let sizes: Vec<_> = (0..1 + random.below(4)).map(|_| random.below(40)).collect();
    let mut maps = Vec::new();
    for _ in 0..random.below(5) {
        let (from, to) = (random.below(sizes.len()), random.below(sizes.len()));
        let (arity, near) = (1 + random.below(3), random.below(2) == 0);
        if sizes[to] == 0 {
            continue;
        }
        let end = sizes[to];
        let target = |at: usize| match near {
            true => (at / arity * end / sizes[from] + random.below(3)).min(end - 1),
            false => random.below(end),
        };
        maps.push(Links {
            from,
            to,
            arity,
            targets: (0..sizes[from] * arity)
                .map(target)
                .map(|to| to as i32)
                .collect(),
        });
    }
    Topology { sizes, maps }
}

fn random_owners(random: &mut Random, mesh: &Topology, ranks: usize) -> Vec<Vec<Rank>> {
    let set = random.below(mesh.sizes.len());
    let size = mesh.sizes[set];
    match random.below(4) {
        0 => mesh.owners(None, ranks),
        1 => mesh.owners(
            Some(Base {
                set,
                owners: block(size, ranks),
            }),
            ranks,
        ),
        2 => {
            let points: Vec<_> = (0..size * 2).map(|_| random.below(9) as f64).collect();
            let owners = bisect(&points, 2, ranks);
            mesh.owners(Some(Base { set, owners }), ranks)
        }
        _ => {
            let sizes = mesh.sizes.iter();
            sizes
                .map(|&size| (0..size).map(|_| random.below(ranks) as Rank).collect())
                .collect()
        }
    }
}

/// The ranks of a job, with a number for each element of each set.
struct Cluster {
    portions: Vec<Portion>,
    /// Of each rank, of each map.
    rows: Vec<Vec<Vec<i32>>>,
    /// Of each rank, of each set.
    data: Vec<Vec<Vec<u8>>>,
}

const SIZE: usize = size_of::<i64>();

fn value(data: &[u8], element: usize) -> i64 {
    i64::from_ne_bytes(data[element * SIZE..][..SIZE].try_into().expect("its size"))
}

fn set_value(data: &mut [u8], element: usize, value: i64) {
    data[element * SIZE..][..SIZE].copy_from_slice(&value.to_ne_bytes());
}

impl Cluster {
    fn new(mesh: &Topology, owners: &[Vec<Rank>], ranks: usize, data: &[Vec<u8>]) -> Self {
        // In another order, if the mesh has an odd number of maps.
        let positions = (mesh.maps.len() % 2 == 1).then(|| mesh.positions(0));
        let positions = positions.as_deref();
        let portions = (0..ranks as Rank).map(|me| mesh.portion(owners, positions, ranks, me));
        let portions: Vec<_> = portions.collect();
        let rows = portions.iter().map(|portion| {
            let rows = mesh.maps.iter().map(|map| {
                let local = portion.parts[map.to].local_numbers(mesh.sizes[map.to]);
                portion.parts[map.from].rows(map, &local)
            });
            rows.collect()
        });
        let local = portions.iter().map(|portion| {
            let sets = portion.parts.iter().zip(data);
            sets.map(|(part, data)| part.select(data, SIZE)).collect()
        });
        Self {
            rows: rows.collect(),
            data: local.collect(),
            portions,
        }
    }

    /// Sends the owners' data of a set to all that have them.
    fn exchange(&mut self, set: usize) {
        for from in 0..self.portions.len() {
            for (at, &to) in self.portions[from].neighbours.iter().enumerate() {
                let mut message = Vec::new();
                let data = &self.data[from][set];
                self.portions[from].parts[set].pack(
                    at,
                    data,
                    Order::by_element(SIZE),
                    &mut message,
                );
                let to = to as usize;
                let back = self.portions[to].neighbours.iter();
                let back = back.copied().position(|rank| rank as usize == from);
                let back = back.expect("neighbours know each other");
                let part = &self.portions[to].parts[set];
                let rest = part.unpack(
                    back,
                    &mut self.data[to][set],
                    SIZE,
                    Order::by_element(SIZE),
                    &message,
                );
                assert!(rest.is_empty(), "both sides agree how long the message is");
            }
        }
    }

    /// Whether the owners have what `whole` has.
    fn compare(&self, set: usize, whole: &[u8]) {
        for (portion, data) in self.portions.iter().zip(&self.data) {
            let part = &portion.parts[set];
            for (at, &number) in part.numbers[..part.owned].iter().enumerate() {
                assert_eq!(value(&data[set], at), value(whole, number as usize));
            }
        }
    }
}

/// What a rank lists is what the definition demands.
fn check_portions(mesh: &Topology, owners: &[Vec<Rank>], cluster: &Cluster) {
    for (set, owners_of_set) in owners.iter().enumerate() {
        let mut owned = vec![0; mesh.sizes[set]];
        for (me, portion) in cluster.portions.iter().enumerate() {
            let part = &portion.parts[set];
            assert!(part.core <= part.owned && part.owned <= part.executed);
            let mut here = part.numbers.clone();
            here.sort_unstable();
            assert!(
                here.windows(2).all(|two| two[0] < two[1]),
                "an element is here twice"
            );
            for &number in &part.numbers[..part.owned] {
                assert_eq!(owners_of_set[number as usize] as usize, me);
                owned[number as usize] += 1;
            }
            for &number in &part.numbers[part.owned..] {
                assert_ne!(owners_of_set[number as usize] as usize, me);
            }
            let targets_owned = |number: i32| {
                let maps = mesh.maps.iter().filter(|map| map.from == set);
                let targets =
                    maps.flat_map(|map| map.of(number as usize).iter().map(|&to| (map.to, to)));
                let owned = targets.map(|(set, to)| owners[set][to as usize] as usize == me);
                owned.collect::<Vec<_>>()
            };
            for (at, &number) in part.numbers.iter().enumerate() {
                let owned = targets_owned(number);
                if at < part.owned {
                    assert_eq!(owned.iter().all(|&one| one), at < part.core);
                } else {
                    assert_eq!(owned.contains(&true), at < part.executed);
                }
            }
        }
        assert!(
            owned.iter().all(|&times| times == 1),
            "each element is owned once"
        );
    }
    for (rows, portion) in cluster.rows.iter().zip(&cluster.portions) {
        for (map, rows) in mesh.maps.iter().zip(rows) {
            let (from, to) = (&portion.parts[map.from], &portion.parts[map.to]);
            assert_eq!(rows.len(), from.executed * map.arity);
            for (at, &local) in rows.iter().enumerate() {
                let local = usize::try_from(local).expect("what an element points to is here");
                let number = from.numbers[at / map.arity] as usize;
                assert_eq!(to.numbers[local], map.of(number)[at % map.arity]);
            }
        }
    }
}

#[test]
fn loops_on_ranks_do_what_they_do_on_one() {
    let mut random = Random(11);
    for _ in 0..400 {
        let mesh = random_mesh(&mut random);
        let ranks = 1 + random.below(6);
        let owners = random_owners(&mut random, &mesh, ranks);
        let mut whole: Vec<Vec<u8>> = mesh
            .sizes
            .iter()
            .map(|&size| {
                (0..size as i64)
                    .flat_map(|at| (at * 7 + 1).to_ne_bytes())
                    .collect()
            })
            .collect();
        let mut cluster = Cluster::new(&mesh, &owners, ranks, &whole);
        check_portions(&mesh, &owners, &cluster);
        for round in 0..3 {
            for (which, map) in mesh.maps.iter().enumerate() {
                // Each element adds its own value and its number to what it points to ...
                cluster.exchange(map.from);
                let own = whole[map.from].clone();
                for element in 0..mesh.sizes[map.from] {
                    for &to in map.of(element) {
                        let data = &mut whole[map.to];
                        let sum = value(data, to as usize) ^ (value(&own, element) + round);
                        set_value(data, to as usize, sum);
                    }
                }
                for (rank, portion) in cluster.portions.iter().enumerate() {
                    let own = cluster.data[rank][map.from].clone();
                    let rows = &cluster.rows[rank][which];
                    for element in 0..portion.parts[map.from].executed {
                        for &to in &rows[element * map.arity..][..map.arity] {
                            let data = &mut cluster.data[rank][map.to];
                            let sum = value(data, to as usize) ^ (value(&own, element) + round);
                            set_value(data, to as usize, sum);
                        }
                    }
                }
                cluster.compare(map.to, &whole[map.to]);
                // ... and then reads all of that.
                cluster.exchange(map.to);
                let seen = whole[map.to].clone();
                for element in 0..mesh.sizes[map.from] {
                    let all = map.of(element).iter().map(|&to| value(&seen, to as usize));
                    let sum = all.fold(round, i64::wrapping_add);
                    set_value(&mut whole[map.from], element, sum);
                }
                for (rank, portion) in cluster.portions.iter().enumerate() {
                    let seen = cluster.data[rank][map.to].clone();
                    let rows = &cluster.rows[rank][which];
                    for element in 0..portion.parts[map.from].owned {
                        let row = &rows[element * map.arity..][..map.arity];
                        let all = row.iter().map(|&to| value(&seen, to as usize));
                        let sum = all.fold(round, i64::wrapping_add);
                        set_value(&mut cluster.data[rank][map.from], element, sum);
                    }
                }
                cluster.compare(map.from, &whole[map.from]);
            }
        }
    }
}

#[test]
fn a_chain_in_two_halves_exchanges_its_ends() {
    // Nine edges between ten nodes.
    let mesh = Topology {
        sizes: vec![10, 9],
        maps: vec![Links {
            from: 1,
            to: 0,
            arity: 2,
            targets: (0..9).flat_map(|edge| [edge, edge + 1]).collect(),
        }],
    };
    let owners = mesh.owners(
        Some(Base {
            set: 0,
            owners: block(10, 2),
        }),
        2,
    );
    let portion = mesh.portion(&owners, None, 2, 1);
    assert_eq!(portion.neighbours, [0]);
    let [nodes, edges] = &portion.parts[..] else {
        panic!()
    };
    // Edge 4 is rank 0's and executed by both: rank 1 needs it and node 4, rank 0 needs node 5.
    assert_eq!(edges.numbers, [5, 6, 7, 8, 4]);
    assert_eq!((edges.core, edges.owned, edges.executed), (4, 4, 5));
    assert_eq!(nodes.numbers, [5, 6, 7, 8, 9, 4]);
    assert_eq!((nodes.core, nodes.owned, nodes.executed), (5, 5, 5));
    assert_eq!(nodes.exchanges[0].exports, [0]);
    assert_eq!(nodes.exchanges[0].imports, [5..5, 5..6]);
    assert_eq!(edges.exchanges[0].exports, [0u32; 0]);
    assert_eq!(edges.exchanges[0].imported(), 1);
}
