//! Bytes of several places in one answer, of which those that are zero are told and not sent: what a program has just
//! allocated or cleared is mostly copied next.
//!
//! Guarantee: what is unpacked are the bytes that were packed. Both sides cut the places alike.

/// Fewer bytes are sent as they are.
const LEAST: usize = 1 << 14;
/// Bytes that are zero together, or are sent.
const PART: usize = 1 << 12;
static ZEROS: [u8; PART] = [0; PART];

/// Offset and length of each part.
fn parts(places: impl Iterator<Item = (usize, usize)>) -> impl Iterator<Item = (usize, usize)> {
    places.flat_map(|(at, length)| {
        let starts = (0..length).step_by(PART);
        starts.map(move |skip| (at + skip, PART.min(length - skip)))
    })
}

fn is_zero(bytes: &[u8]) -> bool {
    const AT_ONCE: usize = 64;
    let mut some = bytes.chunks(AT_ONCE);
    some.all(|some| some.iter().fold(0, |all, byte| all | byte) == 0)
}

/// Number of bytes that say which parts of so many bytes in these places are sent: none where all are.
pub(super) fn marks(places: impl Iterator<Item = (usize, usize)>, bytes: usize) -> usize {
    match bytes < LEAST {
        true => 0,
        false => parts(places).count().div_ceil(8),
    }
}

/// Says which parts of so many bytes in these places are sent, and appends those to `packed`.
pub(super) fn pack<'a>(
    places: impl Iterator<Item = (usize, usize)>,
    bytes: usize,
    contents: impl Fn(usize, usize) -> &'a [u8],
    packed: &mut Vec<u8>,
) -> Vec<u8> {
    let mut marks = Vec::new();
    for (number, (at, length)) in parts(places).enumerate() {
        let part = contents(at, length);
        if bytes < LEAST {
            packed.extend_from_slice(part);
            continue;
        }
        if number % 8 == 0 {
            marks.push(0);
        }
        if !is_zero(part) {
            *marks.last_mut().expect("as above") |= 1 << (number % 8);
            packed.extend_from_slice(part);
        }
    }
    marks
}

/// Number of bytes that are sent of these places.
pub(super) fn sent(
    places: impl Iterator<Item = (usize, usize)>,
    bytes: usize,
    marks: &[u8],
) -> usize {
    match marks.is_empty() {
        true => bytes,
        false => {
            let sent = (parts(places).enumerate()).filter(|(number, _)| is_sent(marks, *number));
            sent.map(|(_, (_, length))| length).sum()
        }
    }
}

fn is_sent(marks: &[u8], number: usize) -> bool {
    marks.is_empty() || marks[number / 8] >> (number % 8) & 1 != 0
}

/// Hands `sink` the bytes of each part.
pub(super) fn unpack(
    places: impl Iterator<Item = (usize, usize)>,
    marks: &[u8],
    mut packed: &[u8],
    mut sink: impl FnMut(usize, &[u8]),
) {
    for (number, (at, length)) in parts(places).enumerate() {
        match is_sent(marks, number) {
            true => {
                let (part, rest) = packed.split_at(length);
                packed = rest;
                sink(at, part);
            }
            false => sink(at, &ZEROS[..length]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    #[test]
    fn what_is_unpacked_was_packed() {
        let mut random = Random(3);
        let mut left_out = 0;
        for round in 0..300 {
            let most = [40, 3 * PART, 30 * PART][round % 3];
            let memory: Vec<u8> = (0..2 * most / PART + 2)
                .flat_map(|_| {
                    let mut part = vec![0; PART];
                    match random.below(3) {
                        0 => part.fill(7),
                        1 => part[random.below(PART)] = 1,
                        _ => {}
                    }
                    part
                })
                .collect();
            let mut at = 0;
            let mut places = Vec::new();
            while at + 1 < memory.len() {
                let length = 1 + random.below(most.min(memory.len() - at - 1));
                places.push((at, length));
                at += length + random.below(PART);
            }
            let bytes = places.iter().map(|&(_, length)| length).sum();
            let places = || places.iter().copied();
            let mut packed = Vec::new();
            let told = pack(
                places(),
                bytes,
                |at, length| &memory[at..at + length],
                &mut packed,
            );
            assert_eq!(told.len(), marks(places(), bytes));
            assert_eq!(packed.len(), sent(places(), bytes, &told));
            left_out += bytes - packed.len();
            let mut copy = vec![9; memory.len()];
            unpack(places(), &told, &packed, |at, part| {
                copy[at..at + part.len()].copy_from_slice(part);
            });
            for (at, length) in places() {
                assert_eq!(copy[at..at + length], memory[at..at + length]);
                copy[at..at + length].fill(9);
            }
            assert!(copy.iter().all(|&byte| byte == 9));
        }
        assert!(left_out > 100 * PART);
    }
}
