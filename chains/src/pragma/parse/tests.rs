use super::super::tokens::tokens;
use super::*;

/// What a pragma says, in its normal form without places, and the values behind it; or what is wrong with it.
fn read(text: &str) -> String {
    let tokens = tokens(text, Position::new(1, 1));
    match parse(&tokens, Position::new(1, 1)) {
        Err(error) => format!("{}: {}", error.at, error.message),
        Ok(said) => {
            let mut words = said.pragma.to_string();
            while let Some(at) = words.find('@') {
                let end = words[at..]
                    .find(' ')
                    .map_or(words.len(), |end| at + end + 1);
                words.replace_range(at..end, "");
            }
            let values = said.values.iter().map(|one| one.text.as_str());
            let values: Vec<_> = values.collect();
            match values.is_empty() {
                true => words,
                false => format!("{words} <- {}", values.join(" | ")),
            }
        }
    }
}

#[test]
fn chains() {
    for (text, said) in [
        ("loopchain schedule()", "loopchain schedule()"),
        ("loopchain schedule(fuse())", "loopchain schedule(fuse)"),
        (
            "loopchain schedule ( fuse , parallel )",
            "loopchain schedule(fuse, parallel)",
        ),
        (
            "loopchain schedule(fuse((0,0),(1,-1)), wavefront)",
            "loopchain schedule(fuse((0,0),(1,-1)), wavefront)",
        ),
        (
            "loopchain schedule(fuse((0),(s->shift[f(1,2)])))",
            "loopchain schedule(fuse((0),($0))) <- s->shift[f(1,2)]",
        ),
        (
            "loopchain schedule(tile((8 * 8, T), tile((2,0x2L),serial,parallel), wavefront), serial)",
            "loopchain schedule(tile((64,$0), tile((2,2), serial, parallel), wavefront), serial) <- T",
        ),
        (
            "loopchain schedule(fuse(), tile((a, b ? 1 : 2, a), parallel, serial, overlap)) local X",
            "loopchain schedule(fuse, tile(($0,$1,$0), parallel, serial, overlap)) local(X) <- a | b ? 1 : 2",
        ),
        (
            "loopchain schedule(tile((64), overlap))",
            "loopchain schedule(tile((64), parallel, serial, overlap))",
        ),
        (
            "loopchain local(A, schedule), schedule(auto), local B, C",
            "loopchain schedule(auto) local(A, schedule, B, C)",
        ),
        (
            "loopchain local A, schedule(auto)",
            "loopchain schedule(auto) local(A)",
        ),
    ] {
        assert_eq!(read(text), said, "{text}");
    }
}

#[test]
fn loops() {
    for (text, said) in [
        ("for domain(0:9)", "for domain(0:9)"),
        (
            "for domain(1:N, 1:M-2) with (i,j) write A{(i,j)}, read B{(i-1,j),(i,1+j)}",
            "for domain(1:$0, 1:$1) with(i, j) write A{(i,j)} read B{(i-1,j),(i,j+1)} <- N | M-2",
        ),
        (
            "for domain(lo[0]:hi[0],std::min(a,b) : c?d:e) with(x,y) read A{(y,x)} B",
            "1:71: unknown clause 'B' of 'for': there are domain(...), with(...), read NAME{...} and write NAME{...}",
        ),
        (
            "for domain(lo[0]:hi[0],std::min(a,b) : c?d:e) with(x,y) read A{(y,x)} write B{(3,-1)}",
            "for domain($0:$1, $2:$3) with(x, y) read A{(y,x)} write B{(3,-1)} \
             <- lo[0] | hi[0] | std::min(a,b) | c?d:e",
        ),
        (
            "for domain((1):(2+3)*4) with(i) read A{((i)+(2)*3-1)}, s{()}, write A{(i),(-(1-i))}",
            "for domain(1:20) with(i) read A{(i+5)} read s{()} write A{(i),(i-1)}",
        ),
        (
            "for with (i) domain(x?::a:b:c) read A{(i-i+2)}",
            "for domain($0:$1) with(i) read A{(2)} <- x?::a:b | c",
        ),
        (
            "for domain(0:9223372036854775807+1u)",
            "for domain(0:$0) <- 9223372036854775807+1u",
        ),
        (
            "for domain(0:010, -1'000:08)",
            "for domain(0:8, -1000:$0) <- 08",
        ),
    ] {
        assert_eq!(read(text), said, "{text}");
    }
}

#[test]
fn what_is_wrong_with_chains() {
    for (text, wrong) in [
        (
            "",
            "1:1: 'loopchain', 'for' or 'strip' is missing behind '#pragma omplc'",
        ),
        ("strip x", "1:7: 'x' cannot stand behind 'strip'"),
        (
            "loop",
            "1:1: unknown pragma 'omplc loop': there are 'omplc loopchain schedule(...)', in front of the block that the \
             loops are in, 'omplc for domain(...)', in front of a loop, and 'omplc strip', in front of an 'if' in a loop",
        ),
        (
            "loopchain local(A)",
            "1:19: 'loopchain' has no schedule: write schedule(auto), schedule() for the order in which the loops are \
             written, or what is to be done with them, such as schedule(fuse(), parallel)",
        ),
        (
            "loopchain schedule(auto) for",
            "1:26: unknown clause 'for' of 'loopchain': there are schedule(...) and local(...)",
        ),
        (
            "loopchain schedule() schedule()",
            "1:22: there is a schedule already",
        ),
        (
            "loopchain schedule(fuse",
            "1:24: ',' or ')' of 'schedule' is missing where the pragma ends",
        ),
        (
            "loopchain schedule fuse",
            "1:20: '(' of 'schedule' is missing in front of 'fuse'",
        ),
        (
            "loopchain schedule(fuze)",
            "1:20: 'fuze' cannot stand here: there are fuse, tile((...), ...), serial, parallel, wavefront and auto",
        ),
        (
            "loopchain schedule(fuse,)",
            "1:25: what is to be done (there are fuse, tile((...), ...), serial, parallel, wavefront and auto) \
             is missing in front of ')'",
        ),
        (
            "loopchain schedule(fuse, auto)",
            "1:26: 'auto' stands alone in a schedule",
        ),
        (
            "loopchain schedule(fuse(1,2))",
            "1:25: '(' of a shift (write one for each loop of the chain, such as fuse((0,0),(1,1)), or fuse() for those \
             that are needed) is missing in front of '1'",
        ),
        (
            "loopchain schedule(tile(8, serial, serial))",
            "1:25: '(' of the sizes of a tile (write tile((32,32), parallel, serial)) is missing in front of '8'",
        ),
        (
            "loopchain schedule(tile((), serial, serial))",
            "1:26: the size of a tile in some dimension is missing in front of ')'",
        ),
        (
            "loopchain schedule(tile((8,0), serial, serial))",
            "1:28: a tile has at least one iteration in each dimension",
        ),
        (
            "loopchain schedule(tile((8)))",
            "1:28: ',' and how tiles follow each other is missing in front of ')'",
        ),
        (
            "loopchain schedule(tile((8), serial))",
            "1:36: ',' and how the iterations of a tile follow each other is missing in front of ')'",
        ),
        (
            "loopchain schedule(tile((8), fuse, serial))",
            "1:30: 'fuse' cannot stand here: there are serial, parallel, wavefront and tile((...), ...)",
        ),
        (
            "loopchain schedule(tile((8), serial, serial, lap))",
            "1:46: 'overlap' is missing in front of 'lap'",
        ),
        (
            "loopchain schedule(), local()",
            "1:29: a name of 'local' is missing in front of ')'",
        ),
        (
            "loopchain schedule() local(A, A)",
            "1:31: 'A' is named twice",
        ),
        (
            "loopchain schedule() local A local A",
            "1:36: 'A' is named twice",
        ),
        (
            "loopchain schedule() local 3",
            "1:28: a name is missing in front of '3'",
        ),
        (
            "loopchain schedule(),",
            "1:22: a clause is missing where the pragma ends",
        ),
    ] {
        assert_eq!(read(text), wrong, "{text}");
    }
}

#[test]
fn what_is_wrong_with_loops() {
    const POSSIBLE: &str = "an index is an iterator and a constant, such as i, i-1 or i+2, or a constant; where that \
        is not all, leave out 'with', 'read' and 'write' of this loop, and they are found out";
    for (text, wrong) in [
        (
            "for",
            "1:4: the loop has no domain: write from where to where it counts, both included, such as domain(0:n-1)",
        ),
        (
            "for domain()",
            "1:12: a range such as 0:n-1 is missing in front of ')'",
        ),
        (
            "for domain(1:n,)",
            "1:16: a range such as 0:n-1 is missing in front of ')'",
        ),
        (
            "for domain(n)",
            "1:13: ':' and the last value of an iterator is missing in front of ')'",
        ),
        (
            "for domain(:n)",
            "1:12: a number is missing in front of ':'",
        ),
        (
            "for domain(1:)",
            "1:14: a number is missing in front of ')'",
        ),
        (
            "for domain(1:n",
            "1:15: ',' or ')' of 'domain' is missing where the pragma ends",
        ),
        (
            "for domain(1:n) domain(1:n)",
            "1:17: there is a domain already",
        ),
        (
            "for domain(1:n) with(i,j)",
            "1:21: 'domain' has 1 range, and 'with' 2: each range has one iterator",
        ),
        (
            "for with(i) domain(1:n,1:m)",
            "1:10: 'domain' has 2 ranges, and 'with' 1: each range has one iterator",
        ),
        ("for domain(1:n,1:n) with(i,i)", "1:28: 'i' is named twice"),
        (
            "for domain(1:n) with i",
            "1:22: '(' of 'with' is missing in front of 'i'",
        ),
        (
            "for domain(1:n) with()",
            "1:22: a name of 'with' is missing in front of ')'",
        ),
        (
            "for domain(1:n) with(i) with(i)",
            "1:25: the iterators are named already",
        ),
        (
            "for domain(1:n) read 1",
            "1:22: the name of a data space is missing in front of '1'",
        ),
        (
            "for domain(1:n) read A->b{(1)}",
            "1:23: '{' and the elements of 'A', such as A{(i),(i+1)}, is missing in front of '->'",
        ),
        (
            "for domain(1:n) read A{}",
            "1:24: an element, such as (i), is missing in front of '}'",
        ),
        (
            "for domain(1:n) with(i) read A{i}",
            "1:32: '(' of an element is missing in front of 'i'",
        ),
        (
            "for domain(1:n) with(i) read A{(i),(i,0)}",
            "1:36: 'A' has elements of 1 and of 2 indices",
        ),
    ] {
        assert_eq!(read(text), wrong, "{text}");
    }
    for (index, wrong) in [
        ("2*i", "1:39: 'i' is multiplied by 2; "),
        ("-i", "1:39: 'i' is multiplied by -1; "),
        ("i+j", "1:39: 'i' and 'j' are in one index; "),
        ("i*j", "1:40: '*' cannot stand here; "),
        ("i+k", "1:41: 'k' is no iterator and no constant; "),
        ("m-1", "1:39: 'm' is no iterator and no constant; "),
        ("i/2", "1:40: '/' cannot stand here; "),
        ("f(i)", "1:39: 'f' is no iterator and no constant; "),
        ("i+", "1:40: '+' cannot stand here; "),
        ("i+9223372036854775807+1", "1:60: '+' cannot stand here; "),
    ] {
        let text = format!("for domain(1:n,0:9) with(i,j) read A{{({index})}}");
        assert_eq!(read(&text), format!("{wrong}{POSSIBLE}"), "{text}");
    }
    assert_eq!(
        read("for domain(1:n) read A{(i)}"),
        format!(
            "1:25: 'i' is no iterator: name them in front of the accesses, such as with(i); {POSSIBLE}"
        )
    );
    assert_eq!(
        read("for domain(1:n) read A{(,i)}"),
        "1:25: an index is missing in front of ','"
    );
}

#[test]
fn tiles_in_tiles() {
    let deep = |count: usize| {
        let open = "tile((2), serial, ".repeat(count);
        read(&format!(
            "loopchain schedule({open}serial{})",
            ")".repeat(count)
        ))
    };
    assert!(deep(8).starts_with("loopchain schedule(tile((2), serial, "));
    // The ninth.
    assert_eq!(deep(9), "1:164: tiles are in each other more than 8 deep");
    assert_eq!(deep(20_000), deep(9));
}
