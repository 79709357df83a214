use super::*;

const TEXT: &str = r##"# 1 "a.c"
# 1 "a.h" 1
static int header(int *p) { return p[0] ? 1 : 2; }
# 2 "a.c" 2
#define TWO 2
void f(double *a, int n) {
  int i, j, k = 0; double s = 0; const char *t = "} #pragma omplc";
#pragma omplc loopchain schedule(fuse((0), (n), (1), (0)), tile((n + 1, TWO), serial, parallel)) local X
  { /* { */
#pragma omp parallel for private(k) firstprivate(s) lastprivate(j) reduction(+ : a[0:n]) collapse(2)
#pragma omplc for domain(0:n-1, 1:4) with(i, j) read X{(i,j-1), (i,j)}, write Y{(i+1,3)}
    for (i = 0; i < n; i++) {
      for (j = 1; j < 5; ++j) { a[i] += k = j; s += 1; }
    }
    if (n) {
      switch (n) { case 1:
#pragma omplc for domain(header(&n):n)
#pragma clang loop unroll(disable)
      for (;;) if (n) { break; } else if (k) do { k--; } while (k); else break;
      default: ; }
    } else
#pragma omp simd
#pragma omplc for domain(0:1)
      for (k = 0; k < 2; ++k) x: a[k] = ({ int z = k; z; });
    for (int l = 0; l < 2; ++l)
#pragma omplc for domain(n:2)
      for (int m = n; m < 3; ++m) a[m] = l;
  }
#pragma omplc loopchain schedule()
  {
#pragma omplc for domain(0:1)
    for (k = 0; k < 2; ++k) ;
  }
}
"##;

/// What becomes of a text, or what is wrong with it.
fn run(text: &str) -> Result<String, Vec<String>> {
    let facts = Facts {
        dialect: Dialect::C,
        has_openmp: true,
    };
    let read = |_: &str| Some(TEXT.to_string());
    let expand = |text: &str| Ok(text.replace("TWO", "2"));
    let marked = marked(text, "a.c", facts, None, read, expand).unwrap();
    marked.map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

/// The tokens of the user's, and their places.
fn placed(text: &str) -> Vec<(String, String, usize, usize)> {
    let tokens = Tokens::of(text, "a.c");
    let all = (0..tokens.all.len()).map(|at| {
        let place = tokens.position(tokens.start(at));
        let file = format!("{}{}", place.quoted, place.flags);
        (tokens.word(at).to_string(), file, place.line, place.column)
    });
    all.filter(|one| !one.1.ends_with(" 3")).collect()
}

#[test]
fn tokens_stay_where_they_are() {
    let marked = run(TEXT).unwrap();
    assert_eq!(placed(&marked), placed(TEXT));
    for (name, count) in [
        ("chain(\"", 2),
        ("for(\"", 5),
        ("next();", 5),
        ("end();", 2),
    ] {
        let name = format!("__okl_omplc_{name}");
        assert_eq!(marked.matches(&name).count(), count, "{name}\n{marked}");
    }
    assert!(!marked.contains("TWO"), "{marked}");
}

/// Texts with parts taken out, or at other places, are rewritten or refused, and what is rewritten keeps its tokens.
#[test]
fn any_text_is_rewritten_or_refused() {
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % bound
    };
    let (mut rewritten, mut refused) = (0, 0);
    for _ in 0..4000 {
        let mut lines: Vec<Vec<String>> = TEXT
            .lines()
            .map(|line| {
                line.split_inclusive([' ', '(', ')', ',', '{', '}'])
                    .map(str::to_string)
                    .collect()
            })
            .collect();
        for _ in 0..=below(3) {
            // Not the line markers.
            let line = 4 + below(lines.len() - 4);
            let other = 4 + below(lines.len() - 4);
            match below(5) {
                0 => lines.swap(line, other),
                1 if lines.len() > 20 => drop(lines.remove(line)),
                2 => lines.insert(other, lines[line].clone()),
                _ if lines[line].is_empty() => {}
                3 => drop({
                    let at = below(lines[line].len());
                    lines[line].remove(at)
                }),
                _ => {
                    let part = lines[line][below(lines[line].len())].clone();
                    let at = below(lines[other].len() + 1);
                    lines[other].insert(at, part);
                }
            }
        }
        let text: String = lines.iter().map(|line| line.concat() + "\n").collect();
        // Behind the preprocessor there are none within lines.
        let mut others = text.lines().filter(|line| !line.contains('"'));
        if others.any(|line| line.rfind('#').is_some_and(|at| at > 0)) {
            continue;
        }
        match run(&text) {
            Ok(marked) => {
                rewritten += 1;
                assert_eq!(placed(&marked), placed(&text), "{text}\n{marked}");
            }
            Err(errors) => {
                refused += 1;
                assert!(errors.iter().all(|one| one.starts_with("a.")), "{errors:?}");
            }
        }
    }
    assert!(rewritten > 500 && refused > 500, "{rewritten} {refused}");
}
