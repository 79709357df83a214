//! How two ranks that meet at a socket find out that both are of this job.
//!
//! Guarantee: who does not know the job's secret is found out, on either side, and learns nothing of it. Both sides show
//! that they know it by a keyed hash (SipHash-2-4) of what either has made up for this connection, so what was heard on
//! one connection is of no use on another. What follows is not encrypted; nor is what MPI sends.

use std::io;

/// Which program this is, and which version of what follows.
const MAGIC: [u8; 8] = *b"okl-rq-1";

/// Two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) [u64; 4]);

/// What a side makes up for one connection.
pub(crate) type Nonce = [u8; 16];
type Proof = [u8; 16];

/// The first words of the one that connects: [`MAGIC`], its rank, the other's, and its [`Nonce`].
pub(crate) type Hello = [u8; 32];
/// What the one that listens answers: its [`Nonce`], and its proof.
pub(crate) type Answer = [u8; 32];

impl Secret {
    /// A new one, from the kernel.
    pub(crate) fn new() -> io::Result<Self> {
        let mut words = [0; 4];
        for word in &mut words {
            *word = u64::from_le_bytes(random()?);
        }
        Ok(Self(words))
    }

    fn hash(self, who: u8, hello: &Hello, nonce: &Nonce) -> Proof {
        let mut said = [0; 49];
        said[0] = who;
        said[1..33].copy_from_slice(hello);
        said[33..].copy_from_slice(nonce);
        let [a, b, c, d] = self.0;
        let hash = u128::from(siphash(a, b, &said)) << 64 | u128::from(siphash(c, d, &said));
        hash.to_le_bytes()
    }
}

/// Bytes that nobody can foretell.
pub(crate) fn random<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    loop {
        // SAFETY: room for so many bytes. At most 256 come whole, or not at all.
        let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), BYTES, 0) };
        if got == BYTES as isize {
            return Ok(bytes);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// What rank `from`, which connects, says to rank `to`.
pub(crate) fn hello(from: u32, to: u32, nonce: Nonce) -> Hello {
    let mut hello = [0; 32];
    hello[..8].copy_from_slice(&MAGIC);
    hello[8..12].copy_from_slice(&from.to_le_bytes());
    hello[12..16].copy_from_slice(&to.to_le_bytes());
    hello[16..].copy_from_slice(&nonce);
    hello
}

/// Who connects to rank `own`, what it is answered, and what it has to prove itself with. None where somebody else is
/// meant, or said something else.
pub(crate) fn answer(
    secret: Secret,
    own: u32,
    hello: &Hello,
    nonce: Nonce,
) -> Option<(u32, Answer, Proof)> {
    let number = |at: usize| u32::from_le_bytes(*hello[at..].first_chunk().expect("4 bytes"));
    if hello[..8] != MAGIC || number(12) != own {
        return None;
    }
    let mut answer = [0; 32];
    answer[..16].copy_from_slice(&nonce);
    answer[16..].copy_from_slice(&secret.hash(b'L', hello, &nonce));
    Some((number(8), answer, secret.hash(b'C', hello, &nonce)))
}

/// What proves the one that connects, unless the other one has not proved itself.
pub(crate) fn proof(secret: Secret, hello: &Hello, answer: &Answer) -> Option<Proof> {
    let (&nonce, theirs) = answer.split_first_chunk().expect("a nonce");
    is_same(theirs, &secret.hash(b'L', hello, &nonce)).then(|| secret.hash(b'C', hello, &nonce))
}

/// Whether two proofs are the same. It takes as long where they are not.
pub(crate) fn is_same(one: &[u8], other: &Proof) -> bool {
    let differ = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && std::hint::black_box(differ) == 0
}

/// SipHash-2-4 (Aumasson, Bernstein: SipHash, a fast short-input PRF, 2012).
fn siphash(key: u64, more: u64, bytes: &[u8]) -> u64 {
    let mut state = [
        key ^ 0x736f_6d65_7073_6575,
        more ^ 0x646f_7261_6e64_6f6d,
        key ^ 0x6c79_6765_6e65_7261,
        more ^ 0x7465_6462_7974_6573,
    ];
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    last[7] = bytes.len() as u8;
    for &word in words.iter().chain([&last]) {
        let word = u64::from_le_bytes(word);
        state[3] ^= word;
        rounds(&mut state, 2);
        state[0] ^= word;
    }
    state[2] ^= 0xff;
    rounds(&mut state, 4);
    state.into_iter().fold(0, |all, word| all ^ word)
}

fn rounds(state: &mut [u64; 4], count: u32) {
    let [a, b, c, d] = state;
    for _ in 0..count {
        *a = a.wrapping_add(*b);
        *b = b.rotate_left(13) ^ *a;
        *a = a.rotate_left(32);
        *c = c.wrapping_add(*d);
        *d = d.rotate_left(16) ^ *c;
        *a = a.wrapping_add(*d);
        *d = d.rotate_left(21) ^ *a;
        *c = c.wrapping_add(*b);
        *b = b.rotate_left(17) ^ *c;
        *c = c.rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the paper's appendix.
    #[test]
    fn the_hash_is_that_of_the_paper() {
        let bytes: Vec<u8> = (0..15).collect();
        let hash = siphash(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, &bytes);
        assert_eq!(hash, 0xa129_ca61_49be_45e5);
    }

    #[test]
    fn who_knows_the_secret_is_known() {
        let secret = Secret::new().expect("the kernel has bytes");
        let hello = hello(3, 5, [1; 16]);
        let (from, answer, expected) = answer(secret, 5, &hello, [2; 16]).expect("it is meant");
        assert_eq!(from, 3);
        let proof = proof(secret, &hello, &answer).expect("both have one secret");
        assert!(is_same(&proof, &expected));
    }

    #[test]
    fn who_does_not_is_found_out_on_either_side() {
        let secret = Secret([1, 2, 3, 4]);
        let hello = hello(3, 5, [1; 16]);
        assert!(answer(secret, 4, &hello, [2; 16]).is_none());
        for byte in 0..8 {
            let mut other = hello;
            other[byte] ^= 1;
            assert!(answer(secret, 5, &other, [2; 16]).is_none());
        }
        for word in 0..4 {
            let mut wrong = secret;
            wrong.0[word] ^= 1;
            let (_, said, _) = answer(wrong, 5, &hello, [2; 16]).expect("it is meant");
            assert!(proof(secret, &hello, &said).is_none());
            let (_, said, expected) = answer(secret, 5, &hello, [2; 16]).expect("it is meant");
            let (&nonce, _) = said.split_first_chunk().expect("a nonce");
            assert!(!is_same(&wrong.hash(b'C', &hello, &nonce), &expected));
        }
    }

    /// What one connection was proved with does not prove another, nor the other side of it.
    #[test]
    fn nothing_that_was_heard_helps() {
        let secret = Secret([1, 2, 3, 4]);
        let hello = hello(3, 5, [1; 16]);
        let (_, said, proof) = answer(secret, 5, &hello, [2; 16]).expect("it is meant");
        let (_, _, other) = answer(secret, 5, &hello, [3; 16]).expect("it is meant");
        assert!(!is_same(&proof, &other));
        assert!(!is_same(&said[16..], &proof));
        assert!(!is_same(&proof[..15], &proof));
    }
}
