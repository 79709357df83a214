//! What all ranks of a job have to agree on, over one collective: `gather` gives what every rank has, in rank order. All
//! ranks call the same function, with as many words.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::Xxh3;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// Whether it is so on every rank.
pub fn all(is_so: bool, gather: impl FnOnce(&[u64]) -> Vec<u64>) -> bool {
    !gather(&[u64::from(is_so)]).contains(&0)
}

/// The first rank that has something else than rank 0, of what hashes the same wherever it is the same.
pub fn first_that_differs(
    what: impl Hash,
    gather: impl FnOnce(&[u64]) -> Vec<u64>,
) -> Option<usize> {
    let all = gather(&[hash(what)]);
    all.iter().position(|one| *one != all[0])
}

/// A number that stands for `what`, on all ranks.
pub fn hash(what: impl Hash) -> u64 {
    let mut hasher = Xxh3::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// The most that any rank has of each.
pub fn most<const N: usize>(mine: [u64; N], gather: impl FnOnce(&[u64]) -> Vec<u64>) -> [u64; N] {
    let all = gather(&mine);
    let ranks = all.as_chunks::<N>().0.iter();
    ranks.fold(mine, |most, one| {
        std::array::from_fn(|at| most[at].max(one[at]))
    })
}

/// What is right on this rank if it is so on all; else what is wrong on the first where it is not.
pub fn agree<T>(
    result: Result<T, String>,
    gather: impl Fn(&[u64]) -> Vec<u64>,
) -> Result<T, String> {
    let why = result.as_ref().err().map_or("", String::as_str);
    let all = gather(&[u64::from(result.is_err()), why.len() as u64]);
    let ranks = all.as_chunks::<2>().0;
    let Some(rank) = ranks.iter().position(|one| one[0] != 0) else {
        return result;
    };
    let bytes = ranks[rank][1] as usize;
    let mut text = why.as_bytes().to_vec();
    text.resize(bytes.next_multiple_of(WORD), 0);
    let words: Vec<u64> = text
        .as_chunks()
        .0
        .iter()
        .map(|one| u64::from_ne_bytes(*one))
        .collect();
    let all = gather(&words);
    let words = all[rank * words.len()..].iter().take(words.len());
    let text: Vec<u8> = words
        .flat_map(|word| word.to_ne_bytes())
        .take(bytes)
        .collect();
    let why = String::from_utf8_lossy(&text);
    Err(match rank {
        0 => why.into_owned(),
        _ => format!("{why} (on rank {rank})"),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, Mutex};

    use super::*;

    /// Calls `body` on `ranks` threads, with a collective.
    fn on_ranks<R: Send>(
        ranks: usize,
        body: impl Fn(usize, &dyn Fn(&[u64]) -> Vec<u64>) -> R + Sync,
    ) -> Vec<R> {
        let (barrier, slots) = (Barrier::new(ranks), Mutex::new(vec![Vec::new(); ranks]));
        let one = |rank: usize| {
            body(rank, &|mine| {
                slots.lock().unwrap()[rank] = mine.to_vec();
                barrier.wait();
                let all = slots.lock().unwrap().concat();
                barrier.wait();
                assert_eq!(all.len(), mine.len() * ranks);
                all
            })
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..ranks)
                .map(|rank| scope.spawn(move || one(rank)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        })
    }

    #[test]
    fn one_that_differs_is_found_on_all_ranks() {
        assert_eq!(on_ranks(3, |_, gather| all(true, gather)), [true; 3]);
        assert_eq!(
            on_ranks(3, |rank, gather| all(rank != 1, gather)),
            [false; 3]
        );
        let differs = |odd: usize| {
            on_ranks(3, move |rank, gather| {
                first_that_differs(("a", rank == odd), gather)
            })
        };
        assert_eq!(differs(3), [None; 3]);
        assert_eq!(differs(2), [Some(2); 3]);
        assert_eq!(differs(0), [Some(1); 3]);
    }

    #[test]
    fn the_most_is_that_of_each_number() {
        let most = on_ranks(3, |rank, gather| {
            most([rank as u64, 9 - rank as u64], gather)
        });
        assert_eq!(most, [[2, 9]; 3]);
    }

    #[test]
    fn what_is_wrong_is_that_of_the_first_rank_where_it_is() {
        let agreed = on_ranks(2, |rank, gather| agree(Ok::<_, String>(rank), gather));
        assert_eq!(agreed, [Ok(0), Ok(1)]);
        let wrong = |of: [Option<&'static str>; 3]| {
            on_ranks(3, move |rank, gather| {
                agree(of[rank].map_or(Ok(()), |why| Err(why.to_owned())), gather)
            })
        };
        let all = |why: &str| vec![Err(why.to_owned()); 3];
        assert_eq!(
            wrong([None, Some("no memory left"), Some("other")]),
            all("no memory left (on rank 1)")
        );
        assert_eq!(wrong([Some(""), None, Some("other")]), all(""));
        assert_eq!(wrong([Some("12345678"), None, None]), all("12345678"));
    }
}
