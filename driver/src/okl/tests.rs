//! What texts become, what is said of wrong ones, and random texts.

mod random;

use super::attributes::ATTRIBUTES;
use super::normalise::Normaliser;
use super::tokens::Tokens;
use super::{Mode, at_columns, edits, normalise, normalise_for, without_definitions};

fn source(text: &str) -> String {
    let done = normalise(text, "f.okl", Mode::Source);
    let text = done.unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    match text.split_once("#line 1 \"f.okl\"\n") {
        Some((declarations, rest)) if declarations.starts_with("extern \"C\"") => rest.to_owned(),
        _ => text,
    }
}

/// In a function.
fn statement(text: &str) -> String {
    let all = source(&format!("void f() {{ {text} }}"));
    all["void f() { ".len()..all.len() - " }".len()].to_owned()
}

fn errors(text: &str) -> Vec<String> {
    match normalise(text, "f.okl", Mode::Source) {
        Ok(text) => panic!("nothing is said of\n{text}"),
        Err(errors) => errors
            .iter()
            .map(|one| one.to_string()["f.okl:".len()..].replacen(" error:", "", 1))
            .collect(),
    }
}

macro_rules! annotated {
    ($text:literal) => {
        concat!("__attribute__((annotate(", $text, ")))")
    };
}

#[test]
fn loops_are_annotated_at_their_iterators() {
    for (attributes, annotations) in [
        ("@outer", vec!["\"okl.outer\", -1"]),
        ("@ outer ( 1 )", vec!["\"okl.outer\", 1"]),
        ("@inner(2)", vec!["\"okl.inner\", 2"]),
        ("@inner()", vec!["\"okl.inner\", -1"]),
        ("@inner(axis)", vec!["\"okl.inner\", (int)(axis)"]),
        (
            "@inner @nobarrier",
            vec!["\"okl.inner\", -1", "\"okl.nobarrier\""],
        ),
        (
            "@nobarrier @inner",
            vec!["\"okl.nobarrier\"", "\"okl.inner\", -1"],
        ),
        (
            "@outer @max_inner_dims(32, 2*N,1)",
            vec![
                "\"okl.outer\", -1",
                "\"okl.max_inner_dims\", 32, (int)(2*N), 1",
            ],
        ),
        (
            "@outer @simd_length(16)",
            vec!["\"okl.outer\", -1", "\"okl.simd_length\", 16"],
        ),
        ("@unroll", vec!["\"okl.unroll\""]),
        ("@unroll()", vec!["\"okl.unroll\""]),
        (
            "@unroll(2 * N) @inner",
            vec!["\"okl.unroll\", (int)(2 * N)", "\"okl.inner\", -1"],
        ),
        (
            "@tile(16, @outer, @inner) @unroll(4)",
            vec![
                "\"okl.tile\", 16, \"outer\", -1, \"inner\", -1, 1",
                "\"okl.unroll\", 4",
            ],
        ),
        ("[[okl_unroll(\"(4)\")]]", vec!["\"okl.unroll\", 4"]),
        (
            "@tile(16)",
            vec!["\"okl.tile\", 16, \"regular\", -1, \"regular\", -1, 1"],
        ),
        (
            "@tile(4*4u, @outer)",
            vec!["\"okl.tile\", 16, \"outer\", -1, \"regular\", -1, 1"],
        ),
        (
            "@tile(16, @outer(1), @inner(0), check=false)",
            vec!["\"okl.tile\", 16, \"outer\", 1, \"inner\", 0, 0"],
        ),
        (
            "@tile(16, @inner, check = true)",
            vec!["\"okl.tile\", 16, \"inner\", -1, \"regular\", -1, 1"],
        ),
        (
            "@tile(16, check=false)",
            vec!["\"okl.tile\", 16, \"regular\", -1, \"regular\", -1, 0"],
        ),
        ("[[okl_outer(\"\")]]", vec!["\"okl.outer\", -1"]),
        ("[[okl_outer(\"(0)\")]]", vec!["\"okl.outer\", 0"]),
        ("[[okl_outer]]", vec!["\"okl.outer\", -1"]),
        (
            "__attribute__((okl_inner(\"(0)\")))",
            vec!["\"okl.inner\", 0"],
        ),
        (
            "[[okl_inner(\"\"), okl_nobarrier(\"()\")]]",
            vec!["\"okl.inner\", -1", "\"okl.nobarrier\""],
        ),
        (
            "[[okl_tile(\"(4,@outer,@inner,check=true)\")]]",
            vec!["\"okl.tile\", 4, \"outer\", -1, \"inner\", -1, 1"],
        ),
    ] {
        let annotations: Vec<_> = annotations
            .iter()
            .map(|one| format!("__attribute__((annotate({one}))) "))
            .collect();
        let expected = format!("for ({}int i = 0; i < 8; ++i) {{}}", annotations.concat());
        let before = statement(&format!("{attributes} for (int i = 0; i < 8; ++i) {{}}"));
        assert_eq!(before, expected);
        let fourth = statement(&format!("for (int i = 0; i < 8; ++i; {attributes}) {{}}"));
        assert_eq!(fourth, expected);
    }
    assert_eq!(
        statement("@outer for (int i = 0; i < 8; ++i; @simd_length(8)) ;"),
        concat!(
            "for (",
            annotated!("\"okl.outer\", -1"),
            " ",
            annotated!("\"okl.simd_length\", 8"),
            " int i = 0; i < 8; ++i) ;"
        )
    );
    // Other attributes stay where they are.
    assert_eq!(
        statement("[[likely, okl_outer(\"\")]] for (int i = 0; i < 8; ++i) ;"),
        concat!(
            "[[likely]] for (",
            annotated!("\"okl.outer\", -1"),
            " int i = 0; i < 8; ++i) ;"
        )
    );
}

#[test]
fn sizes_of_tiles_that_are_computed_are_handed_to_a_marker() {
    assert_eq!(
        statement("@tile(n / 2, @outer, @inner) for (int i = f(1, 2); i < 8; ++i) ;"),
        concat!(
            "for (",
            annotated!("\"okl.tile\", 0, \"outer\", -1, \"inner\", -1, 1"),
            " int i = (__okl_tile_size(n / 2), f(1, 2)); i < 8; ++i) ;"
        )
    );
}

#[test]
fn functions_and_variables_are_annotated() {
    for (text, expected) in [
        (
            "@kernel void k();",
            concat!(annotated!("\"okl.kernel\""), " void k();"),
        ),
        (
            "extern \"C\" @kernel void k() {}",
            concat!(
                "extern \"C\" ",
                annotated!("\"okl.kernel\""),
                " void k() {}"
            ),
        ),
        (
            "template <typename T, int N = 4> @kernel void k(T *a) {}",
            concat!(
                "template <typename T, int N = 4> ",
                annotated!("\"okl.kernel\""),
                " void k(T *a) {}"
            ),
        ),
        (
            "template <typename T> requires ::ns::is<T> && T::template is<int> && (sizeof(T) > 2) || requires(T a) { a + a; } @kernel void k() {}",
            concat!(
                "template <typename T> requires ::ns::is<T> && T::template is<int> && (sizeof(T) > 2) || requires(T a) { a + a; } ",
                annotated!("\"okl.kernel\""),
                " void k() {}"
            ),
        ),
        (
            "template <typename T> @kernel void k(T *a) requires (sizeof(T) > 2) && requires { a + 1; } { f(); }",
            concat!(
                "template <typename T> ",
                annotated!("\"okl.kernel\""),
                " void k(T *a) requires (sizeof(T) > 2) && requires { a + 1; } { f(); }"
            ),
        ),
        (
            "@kernel template <int N> void k() {}",
            concat!(
                "template <int N> ",
                annotated!("\"okl.kernel\""),
                " void k() {}"
            ),
        ),
        (
            "[[okl_kernel(\"()\")]] static void k() {}",
            concat!(annotated!("\"okl.kernel\""), " static void k() {}"),
        ),
        (
            "namespace n { MACRO @kernel void k() {} }",
            concat!(
                "namespace n { MACRO ",
                annotated!("\"okl.kernel\""),
                " void k() {} }"
            ),
        ),
    ] {
        assert_eq!(source(text), expected);
    }
    for (text, expected) in [
        (
            "@shared float s[8];",
            concat!(annotated!("\"okl.shared\""), " float s[8];"),
        ),
        (
            "volatile @shared float s[8];",
            concat!("volatile ", annotated!("\"okl.shared\""), " float s[8];"),
        ),
        (
            "const float @shared s[8];",
            concat!("const float ", annotated!("\"okl.shared\""), " s[8];"),
        ),
        (
            "float s[8] @shared;",
            concat!("float s[8] ", annotated!("\"okl.shared\""), ";"),
        ),
        (
            "float s @shared [8];",
            concat!("float s [8] ", annotated!("\"okl.shared\""), ";"),
        ),
        (
            "@shared T s[8], t[2][4];",
            concat!(annotated!("\"okl.shared\""), " T s[8], t[2][4];"),
        ),
        (
            "@exclusive int e = 3;",
            concat!(annotated!("\"okl.exclusive\""), " int e = 3;"),
        ),
        (
            "@exclusive S e{1, 2};",
            concat!(annotated!("\"okl.exclusive\""), " S e{1, 2};"),
        ),
        (
            "@exclusive std::array<int, 3> e;",
            concat!(annotated!("\"okl.exclusive\""), " std::array<int, 3> e;"),
        ),
        (
            "int e @exclusive = 3, f;",
            concat!("int e ", annotated!("\"okl.exclusive\""), " = 3, f;"),
        ),
        (
            "[[okl_exclusive(\"\")]] int *e[4];",
            concat!(annotated!("\"okl.exclusive\""), " int *e[4];"),
        ),
    ] {
        let normalised = statement(text).replace("  ", " ");
        assert_eq!(normalised, expected);
    }
}

#[test]
fn attributes_of_types_are_those_of_their_variables() {
    assert_eq!(
        source(
            "typedef float sh_t @shared, row_t[4] @shared, plain_t;\nusing ex_t @exclusive = int;\n\
             typedef row_t rows_t;\nvoid f() { sh_t a[2]; row_t b; plain_t c; const ex_t d = 1; rows_t e[2]; \
             { int sh_t; sh_t = 1; } }"
        ),
        concat!(
            "typedef float sh_t, row_t[4], plain_t;\nusing ex_t = int;\ntypedef row_t rows_t;\nvoid f() { ",
            annotated!("\"okl.shared\""),
            " sh_t a[2]; ",
            annotated!("\"okl.shared\""),
            " row_t b; plain_t c; const ",
            annotated!("\"okl.exclusive\""),
            " ex_t d = 1; ",
            annotated!("\"okl.shared\""),
            " rows_t e[2]; { int sh_t; sh_t = 1; } }"
        )
    );
}

#[test]
fn restrict_stands_behind_the_last_star() {
    for (text, expected) in [
        (
            "void f(@restrict const float *a, float * @restrict b, float *@restrict c, float *d @restrict);",
            "void f(const float * __restrict a, float * __restrict b, float * __restrict c, float * __restrict d);",
        ),
        (
            "void f(@restrict real_t a, real_t @restrict b);",
            "void f(real_t __restrict a, real_t __restrict b);",
        ),
        (
            "@restrict float* offset(@restrict float* A);",
            "float* __restrict offset(float* __restrict A);",
        ),
        (
            "typedef float* @restrict rfloat_t;",
            "typedef float* __restrict rfloat_t;",
        ),
        (
            "@restrict float **a, *b;",
            "float ** __restrict a, * __restrict b;",
        ),
        (
            "struct S { @restrict float *p; float *q @restrict; };",
            "struct S { float * __restrict p; float * __restrict q; };",
        ),
        (
            "void f() { float *@restrict p = g(), q; }",
            "void f() { float * __restrict p = g(), q; }",
        ),
        (
            "void f([[okl_restrict(\"\")]] float *p);",
            "void f(float * __restrict p);",
        ),
        (
            "float *f(float (* @restrict p)[3]);",
            "float *f(float (* __restrict p)[3]);",
        ),
        (
            "using r_t = float * @restrict;",
            "using r_t = float * __restrict;",
        ),
    ] {
        let normalised = source(text).replace("  ", " ");
        assert_eq!(normalised, expected);
    }
}

#[test]
fn statements_become_calls_of_markers() {
    for (text, expected) in [
        ("@barrier;", "__okl_barrier(0);"),
        ("@barrier();", "__okl_barrier(0);"),
        ("@ barrier(\"warp\") ;", "__okl_barrier(1) ;"),
        ("@barrier(\"local\");", "__okl_barrier(0);"),
        ("@barrier(\"global\");", "__okl_barrier(0);"),
        ("[[okl_barrier(\"\")]];", "__okl_barrier(0);"),
        ("[[okl_barrier(\"(\\\"warp\\\")\")]];", "__okl_barrier(1);"),
        (
            "if (x)@barrier;else@barrier;",
            "if (x)__okl_barrier(0);else __okl_barrier(0);",
        ),
        (
            "@atomic a[i] += 1;",
            "{ __okl_atomic_begin(0); a[i] += 1; __okl_atomic_end(); }",
        ),
        (
            "@atomic (*a)++;",
            "{ __okl_atomic_begin(0); (*a)++; __okl_atomic_end(); }",
        ),
        (
            "@atomic() ++*a;",
            "{ __okl_atomic_begin(0); ++*a; __okl_atomic_end(); }",
        ),
        (
            "@atomic *a = b < c;",
            "{ __okl_atomic_begin(0); *a = b < c; __okl_atomic_end(); }",
        ),
        (
            "@atomic { a++; if (b) c--; }",
            "{ __okl_atomic_begin(1); { a++; if (b) c--; } __okl_atomic_end(); }",
        ),
        (
            "[[okl_atomic(\"\")]] a += 1;",
            "{ __okl_atomic_begin(0); a += 1; __okl_atomic_end(); }",
        ),
        (
            "if (x) @atomic a++; else if (y) @atomic b++; else @atomic c++;",
            "if (x) { __okl_atomic_begin(0); a++; __okl_atomic_end(); } else if (y) { __okl_atomic_begin(0); b++; \
          __okl_atomic_end(); } else { __okl_atomic_begin(0); c++; __okl_atomic_end(); }",
        ),
        (
            "switch (x) { case 1: @atomic a++; break; default: @barrier; }",
            "switch (x) { case 1: { __okl_atomic_begin(0); a++; __okl_atomic_end(); } break; default: \
          __okl_barrier(0); }",
        ),
        (
            "auto g = [&](int i) { @atomic a[i]++; };",
            "auto g = [&](int i) { { __okl_atomic_begin(0); a[i]++; __okl_atomic_end(); } };",
        ),
        (
            "@directive(\"#pragma unroll 4\") for (;;) ;",
            "_Pragma(\"unroll 4\") for (;;) ;",
        ),
        (
            "@directive(\"#pragma message \\\"x\\\"\"); f();",
            "_Pragma(\"message \\\"x\\\"\") f();",
        ),
        (
            "@directive(\"#define X\") f();",
            "\n#define X\n#line 1 \"f.okl\"\n f();",
        ),
    ] {
        assert_eq!(statement(text), expected);
    }
}

#[test]
fn parentheses_become_indices() {
    let head = "typedef float *t_t @dim(2, 3); t_t g; void f(int *m @dim(3, n) @dimOrder(1, 0), t_t t, \
                int *v @dim(9), t_t o @dimOrder(1,0), t_t own @dim(4), @dim(x, y, z) int *w, \
                int *q @dimOrder(2, 0, 1) @dim(4, 5, 6), int n) { ";
    for (text, expected) in [
        ("m(i, j) = 1;", "m[(n)*(i)+( j)] = 1;"),
        ("t(i,j) = 1;", "t[(i)+(2)*(j)] = 1;"),
        ("g(0,j) = 1;", "g[(0)+(2)*(j)] = 1;"),
        ("o(i,j)++;", "o[(3)*(i)+(j)]++;"),
        ("v(i) = own(i);", "v[(i)] = own[(i)];"),
        ("w(i,j,k)--;", "w[(i)+(x)*(j)+(x)*(y)*(k)]--;"),
        ("q(i,j,k)--;", "q[(6)*(i)+(6)*(4)*(j)+(k)]--;"),
        (
            "v(t(i,j) + f(1, 2)) = 0;",
            "v[(t[(i)+(2)*(j)] + f(1, 2))] = 0;",
        ),
        ("v(g<1, 2>(3)) = 0;", "v[(g<1, 2>(3))] = 0;"),
        (
            "for (int k = v(0); k < v(1); k += v(2)) v(k)++;",
            "for (int k = v[(0)]; k < v[(1)]; k += v[(2)]) v[(k)]++;",
        ),
        (
            "while (v(0)) if (v(1)) return v(2);",
            "while (v[(0)]) if (v[(1)]) return v[(2)];",
        ),
        (
            "s.v(1); s->v(1); S::v(1); v[1]; (v)(1);",
            "s.v(1); s->v(1); S::v(1); v[1]; (v)(1);",
        ),
        // What hides the name, and where.
        ("{ int *v; v(1); } v(1);", "{ int *v; v(1); } v[(1)];"),
        (
            "for (auto v : x) v(1); v(1);",
            "for (auto v : x) v(1); v[(1)];",
        ),
        (
            "if (auto v = x) v(1); else v(1); v(1);",
            "if (auto v = x) v(1); else v(1); v[(1)];",
        ),
        (
            "auto l = [](F v) { v(1); }; v(1);",
            "auto l = [](F v) { v(1); }; v[(1)];",
        ),
        (
            "t_t a = b, c(x); a(1,2) = c(3,4);",
            "t_t a = b, c(x); a[(1)+(2)*(2)] = c[(3)+(2)*(4)];",
        ),
        ("auto &[v, u] = x; v(1);", "auto &[v, u] = x; v(1);"),
        (
            "struct L { void v(int); void h() { v(1); } }; v(1);",
            "struct L { void v(int); void h() { v(1); } }; v[(1)];",
        ),
        (
            "MACRO v(1) += 2; T u(1); u(1);",
            "MACRO v[(1)] += 2; T u(1); u(1);",
        ),
        (
            "@atomic v(0) += v(1);",
            "{ __okl_atomic_begin(0); v[(0)] += v[(1)]; __okl_atomic_end(); }",
        ),
    ] {
        let all = source(&format!("{head}{text} }} void h() {{ v(1); }}"));
        let (_, body) = all.split_once(", int n) { ").unwrap();
        assert_eq!(
            body,
            format!("{expected} }} void h() {{ v(1); }}"),
            "{text}"
        );
    }
}

#[test]
fn sizes_may_name_later_parameters() {
    assert_eq!(
        source("int n; void f(float *m @dim(n, 2), int n) { m(1, 2) = 0; }"),
        "int n; void f(float *m, int n) { m[(1)+(n)*( 2)] = 0; }"
    );
    assert_eq!(
        errors("void f(float *m @dim(n, 2), int n) {\n{ int n; m(1, 2) = 0; }\n}"),
        ["2:10: 'n' in the '@dim' of 'm' is another 'n' here, declared at line 2"]
    );
}

#[test]
fn attributes_of_variables_hand_on_their_arguments() {
    for (text, expected) in [
        (
            "@probe(2 * N, 3) float x;",
            concat!(annotated!("\"okl.probe\", (int)(2 * N), 3"), " float x;"),
        ),
        (
            "float x @probe(3) = 1;",
            concat!("float x  ", annotated!("\"okl.probe\", 3"), " = 1;"),
        ),
        (
            "typedef float T @probe(5); T x;",
            concat!("typedef float T; ", annotated!("\"okl.probe\", 5"), " T x;"),
        ),
    ] {
        assert_eq!(statement(text), expected);
    }
    assert_eq!(
        errors("void f() { @probe(0) float x; @probe(1, 2, 3) float y; }"),
        [
            "1:19: the arguments of '@probe' must be positive integers",
            "1:44: '@probe' takes one or two numbers"
        ]
    );
}

/// What is put in has lines of its own, and what stays is where it was.
#[test]
fn lines_and_columns_stay_in_preprocessed_text() {
    let text = "# 1 \"a.okl\"\n# 1 \"<built-in>\" 1\n# 9 \"a.okl\" 2\n@kernel void k(int *m @dim(2, 3)) {\n  \
                @directive(\"#pragma unroll\") @outer for (int i = 0; i < 9;\n ++i;\n @inner(0)) m(i, 1) = 0;\n}\n";
    let error = normalise(text, "", Mode::Preprocessed).unwrap_err();
    assert_eq!(
        error[0].to_string(),
        "a.okl:12:2: error: '@inner' cannot stand at a loop that has '@outer'"
    );
    let done = normalise(
        &text.replace("@inner(0)", "@simd_length(4)"),
        "",
        Mode::Preprocessed,
    );
    assert_eq!(
        done.unwrap(),
        r##"# 1 "a.okl"
# 1 "<built-in>" 1
# 9 "a.okl" 2

# 9 "a.okl"
             __attribute__((annotate("okl.kernel")))
# 9 "a.okl"
        void k(int *m           ) {
  
# 10 "a.okl"
#pragma unroll
# 10 "a.okl"
                                      for (
# 10 "a.okl"
                               __attribute__((annotate("okl.outer", -1))) 
# 10 "a.okl"
                                           
# 12 "a.okl"
 __attribute__((annotate("okl.simd_length", 4))) 
# 10 "a.okl"
                                           int i = 0; i < 9;
 ++i
# 12 "a.okl"
                ) m
# 12 "a.okl"
                   [(
# 12 "a.okl"
                    i
# 12 "a.okl"
                     )+(2)*(
# 12 "a.okl"
                       1
# 12 "a.okl"
                        )]
# 12 "a.okl"
                          = 0;
}
"##
    );
}

#[test]
fn wrong_texts_are_refused_at_their_place() {
    for (text, expected) in WRONG {
        assert_eq!(errors(text), *expected, "{text}");
    }
    assert!(WRONG.len() >= 60);
}

fn there_are() -> String {
    let all = ATTRIBUTES.iter().map(|row| format!("@{}", row.name));
    let all = all.collect::<Vec<_>>().join(", ");
    assert!(all.starts_with("@kernel, @outer, @inner, @tile, ") && all.contains(", @unroll, "));
    format!("there are: {all}")
}

#[test]
fn what_is_compiled_is_preprocessed_already() {
    let text = "# 3 \"g.okl\"\nvoid f() { @directive(\"#define X\") ; }";
    let error = normalise(text, "f.okl", Mode::Preprocessed).unwrap_err();
    assert_eq!(
        error[0].to_string(),
        "g.okl:3:12: error: '@directive' can only insert pragmas into what is compiled"
    );
    // Macros are gone, and what their definitions say counts no more.
    let text = "#define OUTER @outer\nint a;";
    assert_eq!(normalise(text, "f.okl", Mode::Preprocessed).unwrap(), text);
}

#[test]
fn unknown_attributes_are_named() {
    for (text, place, name) in [
        ("@innr for (;;) ;", "1:1", "innr"),
        (
            "void f() {\n  for (int i = 0; i < 3; ++i; @innr(1, 2)) ; }",
            "2:31",
            "innr",
        ),
        ("float s[2] @innr;", "1:12", "innr"),
        ("[[nodiscard, okl_innr(\"\")]] int f();", "1:14", "innr"),
        ("__attribute__((okl_innr)) int f();", "1:16", "innr"),
        ("@ void k() {}", "1:1", "void"),
    ] {
        let message = format!("{place}: unknown attribute '@{name}'; {}", there_are());
        assert_eq!(errors(text), [message], "{text}");
    }
}

#[test]
fn long_texts_take_no_long_time() {
    for piece in [
        "(",
        "[",
        "{",
        "<",
        "a<",
        "@",
        "@outer ",
        "@x\n",
        "@atomic a\n",
        "if(",
        "if (a) ",
        "for(",
        "m(m(",
        "else ",
        "#if 1\n{",
        "struct a { ",
        "[[",
        "](){[",
        "a::",
        "typedef a ",
        "a, ",
        "a * ",
        "@dim(",
        "\"",
        "/*",
        "a(){",
        "using a = ",
        "case ",
        "template <",
        "~",
        "enum {",
        "operator",
        "@kernel void f(",
        "a a ",
        "({",
        "do ",
        "namespace a {",
        "extern \"C\" {",
        "@atomic {",
        "if (a) {} else ",
        "for (;;) ",
        "a ? b : ",
        "[]() {",
    ] {
        let many = piece.repeat(2_000);
        let begin = std::time::Instant::now();
        let _ = normalise(&many, "f.okl", Mode::Source);
        let closed: String = format!("{many}{}", ")]}".repeat(2_000));
        let _ = normalise(&closed, "f.okl", Mode::Preprocessed);
        let nested = format!(
            "{many}{}",
            ["]", "}", ")"].map(|one| one.repeat(2_000)).concat()
        );
        let _ = normalise(&nested, "f.okl", Mode::Preprocessed);
        let seconds = begin.elapsed().as_secs_f64();
        assert!(seconds < 3.0, "'{piece}' takes {seconds} s");
    }
}

include!("tests/wrong.rs");

#[test]
fn kernels_for_occa_take_addresses() {
    let text = "template <class T> @kernel void t(T *a) {}\n\
                @kernel void declared(int);\n\
                @kernel void none(void) {}\n\
                struct S { int x; };\n\
                @kernel void k(const int n, @restrict float *a @dim(3, n), S s) {}\n";
    let done = normalise_for(text, "f.okl", Mode::Source, Some(super::Occa::Processor)).unwrap();
    let entries: Vec<_> = done
        .lines()
        .filter(|line| line.contains("__asm__"))
        .collect();
    assert_eq!(
        entries,
        [
            "extern \"C\" void okl_occa_none() __asm__(\"none\"); \
             extern \"C\" void okl_occa_none() { okl_occa::call(&none); }",
            "extern \"C\" void okl_occa_k(void *a0, void *a1, void *a2) __asm__(\"k\"); \
             extern \"C\" void okl_occa_k(void *a0, void *a1, void *a2) { okl_occa::call(&k, a0, a1, a2); }",
        ]
    );
    assert_eq!(
        normalise("int x;", "f.okl", Mode::Source).unwrap(),
        "int x;"
    );
}

#[test]
fn kernels_for_occas_devices_are_named_and_told() {
    let text = "@kernel void k(const int n, @restrict float *a @dim(3, n), S = {}) {}\n";
    let occa = Some(super::Occa::Devices);
    let done = normalise_for(text, "f.okl", Mode::Source, occa).unwrap();
    let has = |part: &str| assert!(done.contains(part), "{done}");
    has("void __attribute__((annotate(\"okl.entry\", \"_occa_k\"))) k(const int n,");
    has(
        "void okl_occa_k(void *kernels, void *a0, void *a1, void *a2) { okl_occa_begin(kernels); \
         okl_occa::call(&k, a0, a1, a2); }",
    );
    has(
        "told_k[] __attribute__((section(\".okl.occa\"), used, aligned(1), visibility(\"hidden\"))) = \
         { 107, 0, 3, okl_occa::parameter<decltype(&k), 0>::is, 110, 0, \
         okl_occa::parameter<decltype(&k), 1>::is, 97, 0, \
         okl_occa::parameter<decltype(&k), 2>::is, 83, 0 };",
    );
}
