//! `vprintf`: the text of a format and the arguments behind a pointer, thread by thread; `__assertfail`.

use super::{Group, Result, Warp, lanes_of};
use crate::program::Slot;
use crate::surroundings::{Surroundings, codes};

impl Warp {
    /// Ends the launch for the first lane: what does not hold, and where that is said.
    pub(super) fn assert(
        &mut self,
        arguments: &[Slot],
        group: Group,
        surroundings: &mut Surroundings,
    ) -> Result<bool> {
        let [what, file, line, ..] = arguments else {
            return group.failed("__assertfail has a text, a file and a line");
        };
        let lane = group.lanes.trailing_zeros() as usize;
        let word = |slot: &Slot, bytes: usize| {
            let at = (self.frame[lane] + slot.offset) as usize;
            let mut word = [0; 8];
            word[..bytes].copy_from_slice(&self.locals[lane].data[at..at + bytes]);
            u64::from_le_bytes(word)
        };
        let (what, file, line) = (word(what, 8), word(file, 8), word(line, 4));
        let what = self.text(what, lane, group, surroundings)?;
        let file = self.text(file, lane, group, surroundings)?;
        let [what, file] = [&what, &file].map(|text| String::from_utf8_lossy(text));
        let thread = surroundings.named(self.first_thread(1 << lane));
        let block = surroundings.block_named();
        group.wrong(
            codes::ASSERT,
            format!("{thread} of {block} finds that `{what}` does not hold ({file}:{line})"),
        )
    }

    /// Prints for each lane, and returns how many arguments there were.
    pub(super) fn print(
        &mut self,
        arguments: &[Slot],
        results: &[Slot],
        group: Group,
        surroundings: &mut Surroundings,
    ) -> Result<()> {
        let [format, values] = arguments else {
            return group.failed("vprintf has a format and arguments");
        };
        for lane in lanes_of(group.lanes) {
            let pointer = |slot: &Slot| {
                let at = (self.frame[lane] + slot.offset) as usize;
                let bytes = &self.locals[lane].data[at..at + 8];
                u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
            };
            let (format, mut next) = (pointer(format), pointer(values));
            let format = self.text(format, lane, group, surroundings)?;
            let mut out = Vec::new();
            let mut count = 0u32;
            let mut rest = format.iter().copied().peekable();
            let mut hint = 0;
            while let Some(byte) = rest.next() {
                if byte != b'%' {
                    out.push(byte);
                    continue;
                }
                let mut spec = Vec::new();
                let kind = loop {
                    match rest.next() {
                        Some(byte) if byte.is_ascii_alphabetic() && !b"hljzt".contains(&byte) => {
                            break byte;
                        }
                        Some(b'%') if spec.is_empty() => break b'%',
                        Some(byte) => spec.push(byte),
                        None => {
                            return group.failed("the format of printf ends within a conversion");
                        }
                    }
                };
                if kind == b'%' {
                    out.push(b'%');
                    continue;
                }
                // A width or a precision may be an argument, too.
                while let Some(at) = spec.iter().position(|byte| *byte == b'*') {
                    next = next.next_multiple_of(4);
                    let given = self.generic(next, 4, lane, group, surroundings, &mut hint)?;
                    next += 4;
                    count += 1;
                    let given = (given as u32 as i32).to_string();
                    spec.splice(at..=at, given.into_bytes());
                }
                let is_long = spec.iter().any(|byte| b"ljzt".contains(byte));
                let is_wide = is_long || b"eEfFgGaAsp".contains(&kind);
                let bytes = if is_wide { 8 } else { 4 };
                next = next.next_multiple_of(bytes as u64);
                let value = self.generic(next, bytes, lane, group, surroundings, &mut hint)?;
                next += bytes as u64;
                count += 1;
                let text = if kind == b's' {
                    self.text(value, lane, group, surroundings)?
                } else {
                    Vec::new()
                };
                out.extend(shown(&spec, kind, value, is_wide, &text));
            }
            (surroundings.print)(&out);
            if let [result] = results {
                let at = (self.frame[lane] + result.offset) as usize;
                let local = &mut self.locals[lane];
                local.data[at..at + 4].copy_from_slice(&count.to_le_bytes());
                local.known[at..at + 4].fill(!0);
            }
        }
        Ok(())
    }
}

/// One conversion: flags, width and precision as C has them.
fn shown(spec: &[u8], kind: u8, value: u64, is_wide: bool, text: &[u8]) -> Vec<u8> {
    let spec: String = spec
        .iter()
        .map(|byte| *byte as char)
        .filter(|c| !"hljzt".contains(*c))
        .collect();
    let digits = spec.trim_start_matches(['-', '+', ' ', '#', '0']);
    let flags = &spec[..spec.len() - digits.len()];
    let (width, precision) = digits
        .split_once('.')
        .map_or((digits, None), |(width, rest)| (width, Some(rest)));
    let width: usize = width.parse().unwrap_or(0);
    let precision: Option<usize> = precision.map(|digits| digits.parse().unwrap_or(0));
    let signed = if is_wide {
        value as i64
    } else {
        i64::from(value as u32 as i32)
    };
    let number = f64::from_bits(value);
    let plus = |text: String| {
        if flags.contains('+') && !text.starts_with('-') {
            format!("+{text}")
        } else {
            text
        }
    };
    let body = match kind {
        b'd' | b'i' => plus(signed.to_string()).into_bytes(),
        b'u' => value.to_string().into_bytes(),
        b'x' => format!("{value:x}").into_bytes(),
        b'X' => format!("{value:X}").into_bytes(),
        b'o' => format!("{value:o}").into_bytes(),
        b'p' => format!("{value:#x}").into_bytes(),
        b'c' => vec![value as u8],
        b's' => text[..precision.unwrap_or(text.len()).min(text.len())].to_vec(),
        b'f' | b'F' => plus(format!("{number:.*}", precision.unwrap_or(6))).into_bytes(),
        b'e' | b'E' => plus(scientific(number, precision.unwrap_or(6))).into_bytes(),
        _ => plus(general(number, precision.unwrap_or(6))).into_bytes(),
    };
    let missing = width.saturating_sub(body.len());
    if flags.contains('-') {
        [body, vec![b' '; missing]].concat()
    } else if flags.contains('0') && !b"sc".contains(&kind) {
        let sign = usize::from(body.first().is_some_and(|byte| b"+-".contains(byte)));
        [&body[..sign], &vec![b'0'; missing], &body[sign..]].concat()
    } else {
        [vec![b' '; missing], body].concat()
    }
}

fn scientific(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$e}");
    match text.split_once('e') {
        None => text,
        Some((digits, exponent)) => {
            let exponent: i32 = exponent.parse().unwrap_or(0);
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
    }
}

/// `%g`.
fn general(number: f64, precision: usize) -> String {
    let precision = precision.max(1);
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let text = format!("{number:.*e}", precision - 1);
    let exponent: i32 = text
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if exponent < -4 || exponent >= precision as i32 {
        let text = scientific(number, precision - 1);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{exponent}", trimmed(digits));
    }
    trimmed(&format!(
        "{number:.*}",
        (precision as i32 - 1 - exponent).max(0) as usize
    ))
}
