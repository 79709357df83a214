//! Loops that are counted through as one: a section has whole rows of what a share's turns access, and nothing else, or just
//! that.

use super::*;

/// `a[each_row * (q + s) + each * r]` for `from <= number < n`, where q is the quotient of the number by m and r the rest.
/// Indices are of 32 bits if `is_narrow`.
fn text([each_row, each]: [&str; 2], is_narrow: bool) -> String {
    let (ty, make, extend) = match is_narrow {
        true => ("i32", "trunc i64", "sext i32 %sum to i64"),
        false => ("i64", "add i64 0,", "add i64 %sum, 0"),
    };
    let to = if is_narrow { " to i32" } else { "" };
    format!(
        "define void @f(ptr %a, i64 %n, i64 %m, i64 %t, i64 %s) {{
entry:
  %some = icmp slt i64 %t, %n
  br i1 %some, label %loop, label %end
loop:
  %number = phi i64 [ %t, %entry ], [ %next, %loop ]
  %quotient = udiv i64 %number, %m
  %rest = urem i64 %number, %m
  %row = {make} %quotient{to}
  %column = {make} %rest{to}
  %wide = {make} %m{to}
  %shift = {make} %s{to}
  %moved = add nsw {ty} %row, %shift
  %of.row = mul nsw {ty} %moved, {each_row}
  %of.column = mul nsw {ty} %column, {each}
  %sum = add nsw {ty} %of.row, %of.column
  %index = {extend}
  %place = getelementptr inbounds double, ptr %a, i64 %index
  store double 0.0, ptr %place
  %next = add nsw i64 %number, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}}"
    )
}

#[test]
fn a_section_has_whole_rows() {
    let mut random = random_numbers();
    let mut compared = 0;
    for is_narrow in [false, true] {
        for each_row in ["1", "%wide", "-7", "100"] {
            for each in ["1", "3", "-1", "%wide", "0"] {
                let module = OwnModule::parse(&text([each_row, each], is_narrow));
                let nests = Nests::open(&module, module.function("f").expect("it was written"));
                let Extent::Section(section) = extent_of(&nests, Scope::Loop(0)) else {
                    panic!("{each_row} and {each} have a section, narrow: {is_narrow}");
                };
                for _ in 0..40 {
                    let [first, more, wide] = [20, 30, 6]
                        .map(|bound| random(bound) as i128)
                        .map(|one| one + 1);
                    let first = first - 1;
                    let shift = random(5) as i128 - 2;
                    let arguments = [ADDRESS, first + more, wide, first, shift, 0];
                    let value = |text: &str| text.parse().unwrap_or(wide);
                    let place = |row, column| {
                        ADDRESS + 8 * (value(each_row) * (row + shift) + value(each) * column)
                    };
                    let last = first + more - 1;
                    let all: BTreeSet<_> = match section.exact {
                        true => (first..=last)
                            .map(|number| place(number / wide, number % wide))
                            .collect(),
                        false => (first / wide..=last / wide)
                            .flat_map(|row| (0..wide).map(move |column| (row, column)))
                            .map(|(row, column)| place(row, column))
                            .collect(),
                    };
                    let declared = addresses(&nests, &section, &arguments);
                    assert_eq!(
                        declared,
                        Some(all),
                        "{each_row} and {each} from {first}, {more} in rows of {wide}"
                    );
                    compared += 1;
                }
                // There are no rows of nothing, and no numbers below 0.
                for [first, wide] in [[-3, 4], [3, -4]].into_iter().filter(|_| !section.exact) {
                    let arguments = [ADDRESS, 10, wide, first, 0, 0];
                    assert_eq!(addresses(&nests, &section, &arguments), None);
                }
            }
        }
    }
    assert_eq!(compared, 1600);
}

#[test]
fn other_divisions_have_no_rows() {
    // Each with the place in the array of a number in rows of some width, and how far the next number is.
    type Place = fn(i128, i128) -> i128;
    let changed: [(_, _, Place, usize); 3] = [
        (
            "udiv i64 %number, %m",
            "udiv i64 %m, %number",
            |number, wide| wide * (wide / number) + number % wide,
            1,
        ),
        (
            "mul nsw i64 %column, 1",
            "mul nsw i64 %column, %row",
            |number, wide| wide * (number / wide) + number % wide * (number / wide),
            1,
        ),
        (
            "add nsw i64 %number, 1",
            "add nsw i64 %number, 2",
            |number, wide| wide * (number / wide) + number % wide,
            2,
        ),
    ];
    for (from, to, place, step) in changed {
        let text = text(["%wide", "1"], false);
        assert!(text.contains(from), "{from}");
        let module = OwnModule::parse(&text.replace(from, to));
        let nests = Nests::open(&module, module.function("f").expect("it was written"));
        let Extent::Section(section) = extent_of(&nests, Scope::Loop(0)) else {
            continue;
        };
        let (first, end, wide) = (3, 40, 7);
        let arguments = [ADDRESS, end, wide, first, 0, 0];
        let accessed = (first..end).step_by(step);
        let accessed = accessed.map(|number| ADDRESS + 8 * place(number, wide));
        if let Some(declared) = addresses(&nests, &section, &arguments) {
            assert!(declared.is_superset(&accessed.collect()), "{to}");
        }
    }
}
