//! Random texts, and a kernel in which words are lost, added and exchanged: each is read to its end, and what is not changed
//! stays where it is.

use super::*;

/// A kernel with everything in it, which random texts are made of.
const KERNEL: &str = r##"#include <math.h>
#define N 16
# 3 "kernel.okl"
typedef float *matrix @dim(N, 4) @dimOrder(1, 0);
typedef float sh_t @shared;
template <typename T> struct Pair { T a, b; @restrict T *p; Pair(T x) : a(x), b{x} {} };
namespace space { enum class E { A = 1, B }; }
extern "C" @kernel void k(const int n, @restrict const float *a, float *b @dim(n, 3), matrix m) {
  /* a comment @outer */ // another
  for (int group = 0; group < n; group += N; @outer @max_inner_dims(16, 1)) {
    @shared float s[N]; sh_t t[2][N];
    @exclusive int e = 3, f[4] = {1, 2};
    @inner(0) @nobarrier for (int i = 0; i < N; ++i) {
      s[i] = a[group + i]; e = i ? b(i, m(0, 1)) : 'x';
      @barrier("warp");
      if (i % 2 == 0) @atomic b(0, 0) += s[i]; else if (i > 3) { @atomic { b[0]++; } } else @barrier;
      auto g = [&, n](int k) mutable -> float { return m(k, 2) + "@(" [0]; };
    }
    [[okl_inner("(0)")]] for (int i = 0; i < N; ++i) do { switch (i) { case 1: continue; default: break; } } while (0);
  }
  @directive("#pragma unroll") @tile(n / 2, @outer, @inner(0), check=false) for (int i = n - 1; i >= 0; i -= 2) m(i, 0) = 1.5e-3f;
}
"##;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 20).unwrap() % bound
    }
}

const WORDS: [&str; 65] = [
    "@outer",
    "@inner",
    "@tile",
    "@shared",
    "@exclusive",
    "@atomic",
    "@barrier",
    "@dim",
    "@dimOrder",
    "@restrict",
    "@kernel",
    "@nobarrier",
    "@unroll(2)",
    "@",
    "@what",
    "[[okl_outer(\"(0)\")]]",
    "__attribute__((okl_atomic))",
    "@directive(\"#pragma x\")",
    "for",
    "if",
    "else",
    "while",
    "do",
    "switch",
    "case",
    "typedef",
    "struct",
    "int",
    "float",
    "const",
    "void",
    "template",
    "using",
    "namespace",
    "enum",
    "operator",
    "return",
    "static",
    "a",
    "m",
    "T",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "::",
    "=",
    "*",
    "&",
    "+=",
    ".",
    "1",
    "\"x\"",
    "'",
    "\"",
    "// c\n",
    "\n#if 1\n",
    "\n# 7 \"g\" 3\n",
];

/// Checks what holds for every text.
fn check(text: &str) {
    for mode in [Mode::Source, Mode::Preprocessed] {
        let Ok(normalised) = normalise(text, "f.okl", mode) else {
            continue;
        };
        let done = Normaliser::run(Tokens::of(text, "f.okl"), mode);
        if done.edits.is_empty() {
            assert_eq!(normalised, text);
        }
        let tokens = &done.tokens;
        let changed = |at: usize| {
            let token = &tokens.all[at];
            done.edits
                .iter()
                .any(|edit| edit.start < token.end && token.start < edit.end)
        };
        let stays: Vec<_> = (0..tokens.all.len()).filter(|at| !changed(*at)).collect();
        let result = Tokens::of(&normalised, "f.okl");
        let mut next = 0..result.all.len();
        for at in stays {
            let place = tokens.position(tokens.start(at));
            let found = next.any(|other| {
                let there = result.position(result.start(other));
                let same_column = mode == Mode::Source || there.column == place.column;
                result.word(other) == tokens.word(at)
                    && (there.quoted, there.flags, there.line)
                        == (place.quoted, place.flags, place.line)
                    && same_column
            });
            assert!(
                found,
                "{mode:?}: '{}' of {place:?} is lost in\n{text}\n->\n{normalised}",
                tokens.word(at)
            );
        }
        let _ = edits::apply(tokens, done.edits, mode);
    }
}

/// Checks that what is done before leaves every token in its line.
fn check_steps_before(text: &str) {
    let all = |text: &str| {
        let tokens = Tokens::of(text, "");
        let places = (0..tokens.all.len()).map(|at| {
            let place = tokens.position(tokens.start(at));
            let file = (place.quoted.to_owned(), place.flags.to_owned());
            (tokens.word(at).to_owned(), file, place.line)
        });
        places.collect::<Vec<_>>()
    };
    let as_preprocessed = text.replace(" = ", "  =").replace("for (", "for(");
    for text in [text, &as_preprocessed] {
        let there = at_columns(text, |_| Some(KERNEL.replace("# 3 \"kernel.okl\"\n", "")));
        assert_eq!(all(&there), all(text), "{text}\n->\n{there}");
        assert_eq!(all(&without_definitions(text)), all(text), "{text}");
    }
}

#[test]
fn the_kernel_of_the_random_texts_is_right() {
    assert_eq!(normalise(KERNEL, "f.okl", Mode::Source).err(), None);
    assert_eq!(normalise(KERNEL, "f.okl", Mode::Preprocessed).err(), None);
    check(KERNEL);
}

#[test]
fn mutations_of_a_kernel_are_read() {
    let tokens = Tokens::of(KERNEL, "");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut right = 0;
    for round in 0..4000 {
        // Pieces of the text between tokens, so that comments and lines stay.
        let mut pieces: Vec<String> = Vec::new();
        for at in 0..tokens.all.len() {
            let before = if at == 0 { 0 } else { tokens.all[at - 1].end };
            pieces.push(KERNEL[before..tokens.all[at].end].to_owned());
        }
        for _ in 0..=random.below(3) {
            let at = random.below(pieces.len());
            match random.below(5) {
                0 => drop(pieces.remove(at)),
                1 => pieces.insert(at, format!(" {} ", WORDS[random.below(WORDS.len())])),
                2 => pieces[at] = format!(" {}", WORDS[random.below(WORDS.len())]),
                3 => {
                    let other = random.below(pieces.len());
                    pieces.swap(at, other);
                }
                _ => {
                    let piece = pieces[random.below(pieces.len())].clone();
                    pieces.insert(at, piece);
                }
            }
        }
        let mut text = pieces.concat();
        if random.below(8) == 0 {
            text.truncate(random.below(text.len()));
        }
        right += usize::from(normalise(&text, "f.okl", Mode::Source).is_ok());
        check(&text);
        if round % 4 == 0 {
            check_steps_before(&text);
        }
    }
    assert!(right > 500, "only {right} were right");
}

#[test]
fn random_texts_are_read() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..6000 {
        let mut text = String::new();
        for _ in 0..random.below(40) {
            text += WORDS[random.below(WORDS.len())];
            if random.below(4) != 0 {
                text.push(' ');
            }
        }
        check(&text);
    }
}

#[test]
fn a_text_without_attributes_stays_as_it_is() {
    let mut random = Random(0x0fed_cba9_8765_4321);
    let words = WORDS.iter().skip_while(|one| **one != "for");
    let words: Vec<_> = words.collect();
    for _ in 0..3000 {
        let mut text = String::new();
        for _ in 0..random.below(60) {
            text += words[random.below(words.len())];
            text += ["", " ", "\n"][random.below(3)];
        }
        for mode in [Mode::Source, Mode::Preprocessed] {
            match normalise(&text, "f.okl", mode) {
                Ok(same) => assert_eq!(same, text),
                Err(errors) => panic!("{text}\n{errors:?}"),
            }
        }
    }
}
