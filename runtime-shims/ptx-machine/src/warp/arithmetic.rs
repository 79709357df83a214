//! Whole numbers, bits, comparisons and selections. Of sums and products the bits from the lowest unknown one on are not
//! known; of bitwise operations those that unknown bits decide; of all others all.

use super::registers::Unknown;
use super::{Group, LANES, Warp};
use crate::float::from_half;
use crate::parse::Space;
use crate::program::{
    Combination, Comparison, Operand, Special, What, Whole1, Whole2, Whole3, windows,
};
use crate::surroundings::Surroundings;
use crate::types::{Kind, Type, ones, sign_extended};

type Values = [u64; LANES];

/// How unknown bits of operands make those of a result.
fn spread(unknown: &[Unknown], of: impl Fn(usize, u64) -> u64) -> Unknown {
    if unknown.iter().all(Option::is_none) {
        return None;
    }
    let mut result = [0; LANES];
    for (lane, result) in result.iter_mut().enumerate() {
        let all = unknown.iter().flatten().fold(0, |all, one| all | one[lane]);
        if all != 0 {
            *result = of(lane, all);
        }
    }
    Some(result)
}

/// All bits from the lowest one on.
fn upward(bits: u64) -> u64 {
    bits | bits.wrapping_neg()
}

fn map1(a: &Values, f: impl Fn(u64) -> u64) -> Values {
    let mut result = [0; LANES];
    for lane in 0..LANES {
        result[lane] = f(a[lane]);
    }
    result
}

fn map2(a: &Values, b: &Values, f: impl Fn(u64, u64) -> u64) -> Values {
    let mut result = [0; LANES];
    for lane in 0..LANES {
        result[lane] = f(a[lane], b[lane]);
    }
    result
}

fn map3(a: &Values, b: &Values, c: &Values, f: impl Fn(u64, u64, u64) -> u64) -> Values {
    let mut result = [0; LANES];
    for lane in 0..LANES {
        result[lane] = f(a[lane], b[lane], c[lane]);
    }
    result
}

fn bit(values: &Values, lane: usize, is_negated: bool) -> bool {
    (values[lane] & 1 == 1) != is_negated
}

/// The upper half of a product of two numbers of so many bits.
fn high(a: u64, b: u64, bits: u32, is_signed: bool) -> u64 {
    let product = if is_signed {
        (i128::from(a as i64) * i128::from(b as i64)) as u128
    } else {
        u128::from(a) * u128::from(b)
    };
    (product >> bits) as u64
}

impl Warp {
    /// What an operand is, as numbers with their sign in 64 bits if they have one.
    fn read_as(&self, group: Group, operand: Operand, of: Type) -> (Values, Unknown) {
        let (values, unknown) = self.registers.read(group, operand);
        let width = of.width();
        if of.is_signed() && width < 64 {
            return (map1(&values, |value| sign_extended(value, width)), unknown);
        }
        (map1(&values, |value| value & ones(width)), unknown)
    }

    /// Executes one of them.
    pub(super) fn arithmetic(&mut self, what: &What, group: Group) {
        match what {
            What::Move { to, from } => {
                let (values, unknown) = self.registers.read(group, *from);
                self.registers.write(group, *to, &values, unknown);
            }
            What::Pack { to, bits, parts } => {
                let (mut values, mut unknown) = ([0; LANES], None::<Values>);
                for (index, part) in parts.iter().enumerate() {
                    let shift = index as u32 * bits;
                    let (part, unknown_part) = self.registers.read(group, *part);
                    values = map2(&values, &part, |all, part| {
                        all | ((part & ones(*bits)) << shift)
                    });
                    if let Some(part) = unknown_part {
                        let all = unknown.unwrap_or([0; LANES]);
                        unknown = Some(map2(&all, &part, |all, part| {
                            all | ((part & ones(*bits)) << shift)
                        }));
                    }
                }
                self.registers.write(group, *to, &values, unknown);
            }
            What::Unpack { parts, bits, from } => {
                let (values, unknown) = self.registers.read(group, *from);
                for (index, part) in parts.iter().enumerate() {
                    let shift = index as u32 * bits;
                    let cut =
                        |values: &Values| map1(values, |value| (value >> shift) & ones(*bits));
                    if let Some(part) = part {
                        let unknown = unknown.as_ref().map(cut);
                        self.registers.write(group, *part, &cut(&values), unknown);
                    }
                }
            }
            What::Whole1 { op, of, to, a } => self.whole1(*op, *of, *to, *a, group),
            What::Whole2 {
                op,
                of,
                saturates,
                to,
                a,
                b,
            } => {
                self.whole2(*op, *of, *saturates, *to, [*a, *b], group);
            }
            What::Whole3 {
                op,
                of,
                to,
                operands,
            } => {
                self.whole3(*op, *of, *to, operands, group);
            }
            What::Insert { bits, to, operands } => {
                let all = operands.map(|one| self.registers.read(group, one));
                let mut values = [0; LANES];
                for (lane, value) in values.iter_mut().enumerate() {
                    let (position, count) = (all[2].0[lane] & 0xff, all[3].0[lane] & 0xff);
                    *value = inserted(all[0].0[lane], all[1].0[lane], position, count, *bits);
                }
                let places = spread(&[all[2].1, all[3].1], |_, _| ones(*bits));
                let unknown = match (places, all[0].1, all[1].1) {
                    (None, None, None) => None,
                    (Some(places), _, _) => Some(places),
                    (None, a, b) => {
                        let (a, b) = (a.unwrap_or([0; LANES]), b.unwrap_or([0; LANES]));
                        let mut unknown = [0; LANES];
                        for lane in 0..LANES {
                            let (position, count) = (all[2].0[lane] & 0xff, all[3].0[lane] & 0xff);
                            unknown[lane] = inserted(a[lane], b[lane], position, count, *bits);
                        }
                        Some(unknown)
                    }
                };
                self.registers.write(group, *to, &values, unknown);
            }
            What::Carry { .. } => self.carried(what, group),
            What::Compare { .. } => self.compare(what, group),
            What::Select { to, a, b, by } => {
                let (a, b) = (
                    self.registers.read(group, *a),
                    self.registers.read(group, *b),
                );
                let by_operand = Operand::Register(by.register);
                let (by_values, by_unknown) = self.registers.read(group, by_operand);
                self.select(*to, a, b, by_unknown, group, |lane| {
                    bit(&by_values, lane, by.is_negated)
                });
            }
            What::SelectBySign {
                to,
                a,
                b,
                by,
                is_float,
            } => {
                let (a, b) = (
                    self.registers.read(group, *a),
                    self.registers.read(group, *b),
                );
                let (by, by_unknown) = self.registers.read(group, *by);
                self.select(*to, a, b, by_unknown, group, |lane| {
                    let bits = by[lane] as u32;
                    if *is_float {
                        f32::from_bits(bits) >= 0.0
                    } else {
                        bits as i32 >= 0
                    }
                });
            }
            _ => unreachable!("it is executed elsewhere"),
        }
    }

    fn select(
        &mut self,
        to: u32,
        (a, a_unknown): (Values, Unknown),
        (b, b_unknown): (Values, Unknown),
        by_unknown: Unknown,
        group: Group,
        takes_first: impl Fn(usize) -> bool,
    ) {
        let mut values = [0; LANES];
        for lane in 0..LANES {
            values[lane] = if takes_first(lane) { a[lane] } else { b[lane] };
        }
        let mut unknown = None;
        if a_unknown.is_some() || b_unknown.is_some() || by_unknown.is_some() {
            let (a_unknown, b_unknown) = (
                a_unknown.unwrap_or([0; LANES]),
                b_unknown.unwrap_or([0; LANES]),
            );
            let mut all = [0; LANES];
            for lane in 0..LANES {
                all[lane] = if by_unknown.is_some_and(|by| by[lane] != 0) {
                    (a[lane] ^ b[lane]) | a_unknown[lane] | b_unknown[lane]
                } else if takes_first(lane) {
                    a_unknown[lane]
                } else {
                    b_unknown[lane]
                };
            }
            unknown = Some(all);
        }
        self.registers.write(group, to, &values, unknown);
    }

    fn whole1(&mut self, op: Whole1, of: Type, to: u32, a: Operand, group: Group) {
        let bits = of.width();
        let mask = ones(bits);
        let (a, a_unknown) = self.read_as(group, a, of);
        let values = match op {
            Whole1::Neg => map1(&a, |a| a.wrapping_neg() & mask),
            Whole1::Abs => map1(&a, |a| (a as i64).unsigned_abs() & mask),
            Whole1::Not => map1(&a, |a| !a & mask),
            Whole1::LogicalNot => map1(&a, |a| u64::from(a & mask == 0)),
            Whole1::Count => map1(&a, |a| (a & mask).count_ones().into()),
            Whole1::LeadingZeros => map1(&a, |a| ((a & mask).leading_zeros() - (64 - bits)).into()),
            Whole1::Reverse => map1(&a, |a| (a & mask).reverse_bits() >> (64 - bits)),
            Whole1::Find { is_shift } => map1(&a, |a| {
                let is_negative = of.is_signed() && (a as i64) < 0;
                let a = if is_negative { !a & mask } else { a & mask };
                if a == 0 {
                    return 0xffff_ffff;
                }
                let place = 63 - u64::from(a.leading_zeros());
                if is_shift {
                    u64::from(bits) - 1 - place
                } else {
                    place
                }
            }),
        };
        let unknown = spread(&[a_unknown], |_, all| match op {
            Whole1::Not => all,
            Whole1::Neg => upward(all) & mask,
            Whole1::Reverse => all.reverse_bits() >> (64 - bits),
            Whole1::Count | Whole1::LeadingZeros | Whole1::Find { .. } => ones(32),
            Whole1::Abs | Whole1::LogicalNot => mask,
        });
        self.registers.write(group, to, &values, unknown);
    }

    fn whole2(
        &mut self,
        op: Whole2,
        of: Type,
        saturates: bool,
        to: u32,
        [a, b]: [Operand; 2],
        group: Group,
    ) {
        let bits = of.width();
        let mask = ones(bits);
        let is_signed = of.is_signed();
        let (a, a_unknown) = self.read_as(group, a, of);
        let is_shift = matches!(op, Whole2::ShiftLeft | Whole2::ShiftRight);
        let by = if is_shift { SHIFT } else { of };
        let (b, b_unknown) = self.read_as(group, b, by);
        let mut undefined = None;
        let values = match op {
            Whole2::Add if of.packed == 2 => map2(&a, &b, |a, b| halves(a, b, u64::wrapping_add)),
            Whole2::Sub if of.packed == 2 => map2(&a, &b, |a, b| halves(a, b, u64::wrapping_sub)),
            Whole2::Add if saturates => map2(&a, &b, |a, b| saturated(a as i64 + b as i64)),
            Whole2::Sub if saturates => map2(&a, &b, |a, b| saturated(a as i64 - b as i64)),
            Whole2::Add => map2(&a, &b, |a, b| a.wrapping_add(b) & mask),
            Whole2::Sub => map2(&a, &b, |a, b| a.wrapping_sub(b) & mask),
            Whole2::MulLow => map2(&a, &b, |a, b| a.wrapping_mul(b) & mask),
            Whole2::MulHigh => map2(&a, &b, |a, b| high(a, b, bits, is_signed) & mask),
            Whole2::MulWide => map2(&a, &b, |a, b| a.wrapping_mul(b) & ones(2 * bits)),
            Whole2::Mul24Low => map2(&a, &b, |a, b| {
                low24(a, is_signed).wrapping_mul(low24(b, is_signed)) & mask
            }),
            Whole2::Mul24High => map2(&a, &b, |a, b| {
                (low24(a, is_signed).wrapping_mul(low24(b, is_signed)) >> 16) & mask
            }),
            Whole2::Div | Whole2::Rem => {
                let is_div = op == Whole2::Div;
                undefined = Some(map1(&b, |b| if b == 0 { mask } else { 0 }));
                map2(&a, &b, |a, b| match (is_signed, b) {
                    (_, 0) => mask,
                    (true, _) if is_div => (a as i64).wrapping_div(b as i64) as u64 & mask,
                    (true, _) => (a as i64).wrapping_rem(b as i64) as u64 & mask,
                    (false, _) if is_div => a / b,
                    (false, _) => a % b,
                })
            }
            Whole2::Min if is_signed => map2(&a, &b, |a, b| (a as i64).min(b as i64) as u64 & mask),
            Whole2::Max if is_signed => map2(&a, &b, |a, b| (a as i64).max(b as i64) as u64 & mask),
            Whole2::Min => map2(&a, &b, u64::min),
            Whole2::Max => map2(&a, &b, u64::max),
            Whole2::And => map2(&a, &b, |a, b| a & b),
            Whole2::Or => map2(&a, &b, |a, b| a | b),
            Whole2::Xor => map2(&a, &b, |a, b| a ^ b),
            Whole2::ShiftLeft => map2(&a, &b, |a, b| {
                if b >= u64::from(bits) {
                    0
                } else {
                    (a << b) & mask
                }
            }),
            Whole2::ShiftRight => map2(&a, &b, |a, b| {
                let by = b.min(u64::from(bits) - 1) as u32;
                match is_signed {
                    true => ((a as i64) >> by) as u64 & mask,
                    false if b >= u64::from(bits) => 0,
                    false => a >> by,
                }
            }),
        };
        // What a division by zero gives is not defined.
        let undefined =
            undefined.filter(|all| super::lanes_of(group.lanes).any(|lane| all[lane] != 0));
        let known = |unknown: &Unknown, lane: usize| unknown.map_or(0, |unknown| unknown[lane]);
        let unknown = spread(&[a_unknown, b_unknown, undefined], |lane, all| {
            let (ua, ub) = (known(&a_unknown, lane), known(&b_unknown, lane));
            let (a, b) = (a[lane], b[lane]);
            match op {
                Whole2::Add | Whole2::Sub | Whole2::MulLow if of.packed == 1 && !saturates => {
                    upward(all) & mask
                }
                Whole2::MulWide => upward(all) & ones(2 * bits),
                Whole2::And => ((ua & ub) | (ua & b) | (a & ub)) & mask,
                Whole2::Or => ((ua & ub) | (ua & !b) | (!a & ub)) & mask,
                Whole2::Xor => all & mask,
                Whole2::ShiftLeft if ub == 0 => {
                    if b >= u64::from(bits) {
                        0
                    } else {
                        (ua << b) & mask
                    }
                }
                Whole2::ShiftRight if ub == 0 => {
                    let by = b.min(u64::from(bits) - 1) as u32;
                    match is_signed {
                        true => (sign_extended(ua & mask, bits) as i64 >> by) as u64 & mask,
                        false if b >= u64::from(bits) => 0,
                        false => (ua & mask) >> by,
                    }
                }
                _ => mask,
            }
        });
        self.registers.write(group, to, &values, unknown);
        let moves_bits = matches!(
            op,
            Whole2::And | Whole2::Or | Whole2::Xor | Whole2::ShiftLeft | Whole2::ShiftRight
        );
        if !moves_bits {
            self.registers.note_computed(group, to);
        }
    }

    fn whole3(&mut self, op: Whole3, of: Type, to: u32, operands: &[Operand; 3], group: Group) {
        let bits = of.width();
        let mask = ones(bits);
        let is_signed = of.is_signed();
        let wide = Type {
            bits: of.bits.saturating_mul(2).min(64),
            ..of
        };
        let types = match op {
            Whole3::MadWide => [of, of, wide],
            Whole3::Extract => [of, SHIFT, SHIFT],
            Whole3::FunnelLeft { .. } | Whole3::FunnelRight { .. } => [of, of, SHIFT],
            _ => [of; 3],
        };
        let (a, a_unknown) = self.read_as(group, operands[0], types[0]);
        let (b, b_unknown) = self.read_as(group, operands[1], types[1]);
        let (c, c_unknown) = self.read_as(group, operands[2], types[2]);
        let funnel = |a: u64, b: u64| (b << 32) | a;
        let values = match op {
            Whole3::MadLow => map3(&a, &b, &c, |a, b, c| {
                a.wrapping_mul(b).wrapping_add(c) & mask
            }),
            Whole3::MadWide => map3(&a, &b, &c, |a, b, c| {
                a.wrapping_mul(b).wrapping_add(c) & ones(2 * bits)
            }),
            Whole3::MadHigh => map3(&a, &b, &c, |a, b, c| {
                high(a, b, bits, is_signed).wrapping_add(c) & mask
            }),
            Whole3::Mad24Low => map3(&a, &b, &c, |a, b, c| {
                let product = low24(a, is_signed).wrapping_mul(low24(b, is_signed));
                product.wrapping_add(c) & mask
            }),
            Whole3::Sad => map3(&a, &b, &c, |a, b, c| {
                let difference = if is_signed {
                    (a as i64).wrapping_sub(b as i64).unsigned_abs()
                } else {
                    a.abs_diff(b)
                };
                difference.wrapping_add(c) & mask
            }),
            Whole3::FunnelLeft { clamps } => map3(&a, &b, &c, |a, b, c| {
                let by = if clamps { c.min(32) } else { c & 31 };
                (funnel(a, b) << by >> 32) & ones(32)
            }),
            Whole3::FunnelRight { clamps } => map3(&a, &b, &c, |a, b, c| {
                let by = if clamps { c.min(32) } else { c & 31 };
                (funnel(a, b) >> by) & ones(32)
            }),
            Whole3::Extract => map3(&a, &b, &c, |a, b, c| {
                extracted(a & mask, b & 0xff, c & 0xff, bits, is_signed)
            }),
            Whole3::Permute => map3(&a, &b, &c, permuted),
            Whole3::Lop3(table) => map3(&a, &b, &c, |a, b, c| looked_up(table, a, b, c) & mask),
        };
        let places_known =
            |lane: usize, all: &[Unknown]| all.iter().flatten().all(|unknown| unknown[lane] == 0);
        let known = |unknown: &Unknown, lane: usize| unknown.map_or(0, |unknown| unknown[lane]);
        let unknown = spread(&[a_unknown, b_unknown, c_unknown], |lane, all| {
            let (ua, ub) = (known(&a_unknown, lane), known(&b_unknown, lane));
            match op {
                Whole3::MadLow => upward(all) & mask,
                Whole3::MadWide => upward(all) & ones(2 * bits),
                Whole3::Extract if places_known(lane, &[b_unknown, c_unknown]) => {
                    extracted(ua & mask, b[lane] & 0xff, c[lane] & 0xff, bits, is_signed)
                }
                Whole3::Permute if places_known(lane, &[c_unknown]) => permuted(ua, ub, c[lane]),
                Whole3::FunnelLeft { clamps } if places_known(lane, &[c_unknown]) => {
                    let by = if clamps {
                        c[lane].min(32)
                    } else {
                        c[lane] & 31
                    };
                    (funnel(ua, ub) << by >> 32) & ones(32)
                }
                Whole3::FunnelRight { clamps } if places_known(lane, &[c_unknown]) => {
                    let by = if clamps {
                        c[lane].min(32)
                    } else {
                        c[lane] & 31
                    };
                    (funnel(ua, ub) >> by) & ones(32)
                }
                Whole3::Lop3(table) => {
                    let uc = known(&c_unknown, lane);
                    unknown_of_lop3(table, [a[lane], b[lane], c[lane]], [ua, ub, uc]) & mask
                }
                _ => mask,
            }
        });
        self.registers.write(group, to, &values, unknown);
        let computes = matches!(
            op,
            Whole3::MadLow | Whole3::MadHigh | Whole3::MadWide | Whole3::Mad24Low | Whole3::Sad
        );
        if computes {
            self.registers.note_computed(group, to);
        }
    }

    fn carried(&mut self, what: &What, group: Group) {
        let What::Carry {
            subtracts,
            bits,
            takes,
            gives,
            carry,
            to,
            a,
            b,
            product,
        } = what
        else {
            unreachable!("it is a sum");
        };
        let mask = ones(*bits);
        let (mut a, mut a_unknown) = self.registers.read(group, *a);
        let (b, b_unknown) = self.registers.read(group, *b);
        if let Some((factor, is_high, is_signed)) = product {
            let (factor, factor_unknown) = self.registers.read(group, *factor);
            a = map2(&a, &factor, |a, b| {
                let extended = |value: u64| {
                    if *is_signed {
                        sign_extended(value, *bits)
                    } else {
                        value & mask
                    }
                };
                let (a, b) = (extended(a), extended(b));
                if *is_high {
                    high(a, b, *bits, *is_signed) & mask
                } else {
                    a.wrapping_mul(b) & mask
                }
            });
            a_unknown = spread(&[a_unknown, factor_unknown], |_, _| mask);
        }
        let (old, old_unknown) = if *takes {
            self.registers.read(group, Operand::Register(*carry))
        } else {
            ([0; LANES], None)
        };
        let (mut values, mut carries) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let (a, b) = (u128::from(a[lane] & mask), u128::from(b[lane] & mask));
            let old = u128::from(old[lane] & 1);
            let result = if *subtracts {
                a.wrapping_sub(b).wrapping_sub(old)
            } else {
                a + b + old
            };
            values[lane] = result as u64 & mask;
            carries[lane] = (result >> bits) as u64 & 1;
        }
        let unknown = spread(&[a_unknown, b_unknown, old_unknown], |_, all| {
            upward(all) & mask
        });
        self.registers.write(group, *to, &values, unknown);
        if *gives {
            let unknown = unknown.map(|unknown| map1(&unknown, |one| u64::from(one != 0)));
            self.registers.write(group, *carry, &carries, unknown);
        }
    }

    fn compare(&mut self, what: &What, group: Group) {
        let What::Compare {
            op,
            unordered,
            of,
            flushes,
            to,
            other,
            result,
            combination,
            a,
            b,
        } = what
        else {
            unreachable!("it is a comparison");
        };
        let (a, a_unknown) = self.read_as(group, *a, *of);
        let (b, b_unknown) = self.read_as(group, *b, *of);
        let mut truths = match of.kind {
            Kind::Float | Kind::Brain => map2(&a, &b, |a, b| {
                let (a, b) = (number(a, *of, *flushes), number(b, *of, *flushes));
                u64::from(if a.is_nan() || b.is_nan() {
                    *unordered || *op == Comparison::NotNumbers
                } else {
                    compared(*op, a.partial_cmp(&b))
                })
            }),
            Kind::Signed => map2(&a, &b, |a, b| {
                u64::from(compared(*op, Some((a as i64).cmp(&(b as i64)))))
            }),
            _ => map2(&a, &b, |a, b| u64::from(compared(*op, Some(a.cmp(&b))))),
        };
        let mut unknown = spread(&[a_unknown, b_unknown], |lane, all| {
            let is_equality = matches!(op, Comparison::Equal | Comparison::NotEqual);
            // Bits that are known and differ decide.
            let decided =
                is_equality && of.is_whole() && (a[lane] ^ b[lane]) & !all & ones(of.width()) != 0;
            u64::from(!decided)
        });
        let first = truths;
        let first_unknown = unknown;
        let mut second = map1(&first, |one| one ^ 1);
        if let Some((how, by)) = combination {
            let (by_values, by_unknown) =
                self.registers.read(group, Operand::Register(by.register));
            let by_values = map1(&by_values, |one| (one & 1) ^ u64::from(by.is_negated));
            let combine = |a: u64, b: u64| match how {
                Combination::And => a & b,
                Combination::Or => a | b,
                Combination::Xor => a ^ b,
            };
            truths = map2(&first, &by_values, combine);
            second = map2(&second, &by_values, combine);
            unknown = spread(&[first_unknown, by_unknown], |lane, _| {
                let is_unknown = |one: &Unknown| one.is_some_and(|one| one[lane] != 0);
                let decides = u64::from(*how == Combination::Or);
                let is_decided = *how != Combination::Xor
                    && ((!is_unknown(&first_unknown) && first[lane] == decides)
                        || (!is_unknown(&by_unknown) && by_values[lane] == decides));
                u64::from(!is_decided)
            });
        }
        if let Some(other) = other {
            let unknown = unknown.map(|unknown| map1(&unknown, |one| u64::from(one != 0)));
            self.registers.write(group, *other, &second, unknown);
        }
        match result {
            None => self.registers.write(group, *to, &truths, unknown),
            Some(result) => {
                let mask = ones(result.width());
                let yes = if result.is_float() { 0x3f80_0000 } else { mask };
                let values = map1(&truths, |one| if one == 1 { yes } else { 0 });
                let unknown = unknown.map(|all| map1(&all, |one| if one != 0 { mask } else { 0 }));
                self.registers.write(group, *to, &values, unknown);
            }
        }
    }

    /// What lanes know of themselves.
    pub(super) fn special(
        &mut self,
        to: u32,
        which: Special,
        group: Group,
        surroundings: &Surroundings,
    ) {
        let shape = &surroundings.shape;
        let first = self.number * LANES as u32;
        let mut values = [0; LANES];
        for lane in super::lanes_of(group.lanes) {
            let lane_bit = 1u64 << lane;
            values[lane] = match which {
                Special::Thread(dimension) => {
                    u64::from(shape.thread(first + lane as u32)[usize::from(dimension)])
                }
                Special::Threads(dimension) => shape.threads[usize::from(dimension)].into(),
                Special::Block(dimension) => surroundings.block[usize::from(dimension)].into(),
                Special::Blocks(dimension) => shape.blocks[usize::from(dimension)].into(),
                Special::Lane => lane as u64,
                Special::Warp => self.number.into(),
                Special::Warps => shape.block_size().div_ceil(LANES as u32).into(),
                Special::LaneMask(comparison) => match comparison {
                    Comparison::Equal => lane_bit,
                    Comparison::Less => lane_bit - 1,
                    Comparison::LessEqual => (lane_bit << 1) - 1,
                    Comparison::Greater => ones(32) & !((lane_bit << 1) - 1),
                    _ => ones(32) & !(lane_bit - 1),
                },
                Special::Processor => 0,
                Special::Processors => 1,
                Special::Grid => shape.grid,
                Special::Clock { bits } => surroundings.clock & ones(bits.into()),
                Special::Time => surroundings.clock,
                Special::DynamicShared => shape.dynamic_shared.into(),
                Special::TotalShared => shape.total_shared.into(),
                Special::WarpSize => LANES as u64,
            };
        }
        self.registers.write(group, to, &values, None);
    }

    /// Addresses of one space as those of another one.
    pub(super) fn convert_address(&mut self, what: &What, group: Group) {
        match what {
            What::FrameAddress { to, offset } => {
                let mut values = [0; LANES];
                for lane in super::lanes_of(group.lanes) {
                    values[lane] = u64::from(self.frame[lane]) + offset;
                }
                self.registers.write(group, *to, &values, None);
            }
            What::ToGeneric {
                to,
                from,
                in_frame,
                space,
            } => {
                let (mut values, unknown) = self.registers.read(group, *from);
                for lane in super::lanes_of(group.lanes) {
                    if *in_frame {
                        values[lane] += u64::from(self.frame[lane]);
                    }
                    values[lane] = values[lane].wrapping_add(window(*space));
                }
                self.registers.write(group, *to, &values, unknown);
            }
            What::FromGeneric { to, from, space } => {
                let (values, unknown) = self.registers.read(group, *from);
                let values = map1(&values, |value| value.wrapping_sub(window(*space)));
                self.registers.write(group, *to, &values, unknown);
            }
            What::IsIn { to, from, space } => {
                let (values, unknown) = self.registers.read(group, *from);
                let in_window = |value: u64| match space {
                    Space::Global | Space::Constant => value & windows::WHICH == windows::GLOBAL,
                    space => value & windows::WHICH == window(*space),
                };
                let values = map1(&values, |value| in_window(value).into());
                let unknown =
                    unknown.map(|all| map1(&all, |one| u64::from(one & windows::WHICH != 0)));
                self.registers.write(group, *to, &values, unknown);
            }
            _ => unreachable!("it is executed elsewhere"),
        }
    }
}

/// Where a space begins in the generic one.
fn window(space: Space) -> u64 {
    match space {
        Space::Generic | Space::Global | Space::Constant => 0,
        Space::Shared => windows::SHARED,
        Space::Local => windows::LOCAL,
        Space::Param => windows::PARAM,
    }
}

const SHIFT: Type = Type {
    kind: Kind::Unsigned,
    bits: 32,
    packed: 1,
};

fn low24(value: u64, is_signed: bool) -> u64 {
    if is_signed {
        sign_extended(value, 24)
    } else {
        value & ones(24)
    }
}

fn saturated(value: i64) -> u64 {
    value.clamp(i32::MIN.into(), i32::MAX.into()) as u64 & ones(32)
}

fn halves(a: u64, b: u64, f: impl Fn(u64, u64) -> u64) -> u64 {
    (f(a & 0xffff, b & 0xffff) & 0xffff) | ((f(a >> 16, b >> 16) & 0xffff) << 16)
}

fn extracted(a: u64, position: u64, count: u64, bits: u32, is_signed: bool) -> u64 {
    let top = u64::from(bits) - 1;
    let sign_at = (position + count).wrapping_sub(1).min(top);
    let sign = is_signed && count > 0 && (a >> sign_at) & 1 == 1;
    let low = if position > top { 0 } else { a >> position };
    let kept = count.min(64) as u32;
    let in_range = ones(kept.min(bits));
    // Bits behind the top are the sign's.
    let available = (u64::from(bits)).saturating_sub(position).min(64) as u32;
    let mut value = low & in_range & ones(available);
    if sign {
        let filled = kept.min(available);
        value |= !ones(filled);
    }
    value & ones(bits)
}

fn inserted(a: u64, b: u64, position: u64, count: u64, bits: u32) -> u64 {
    if position >= u64::from(bits) || count == 0 {
        return b & ones(bits);
    }
    let mask = (ones(count.min(64) as u32) << position) & ones(bits);
    (b & !mask & ones(bits)) | ((a << position) & mask)
}

fn permuted(a: u64, b: u64, c: u64) -> u64 {
    let bytes = ((b & ones(32)) << 32) | (a & ones(32));
    (0..4).fold(0, |all, place| {
        let choice = (c >> (4 * place)) & 15;
        let byte = (bytes >> (8 * (choice & 7))) & 0xff;
        let byte = match choice & 8 {
            0 => byte,
            _ if byte & 0x80 != 0 => 0xff,
            _ => 0,
        };
        all | (byte << (8 * place))
    })
}

fn looked_up(table: u8, a: u64, b: u64, c: u64) -> u64 {
    (0..8)
        .filter(|row| table >> row & 1 == 1)
        .fold(0, |all, row| {
            let pick = |value: u64, bit: u32| if row >> bit & 1 == 1 { value } else { !value };
            all | (pick(a, 2) & pick(b, 1) & pick(c, 0))
        })
}

/// Bits of the result that change with unknown ones.
fn unknown_of_lop3(table: u8, values: [u64; 3], unknown: [u64; 3]) -> u64 {
    let [a, b, c] = values;
    let known = looked_up(table, a, b, c);
    (1..8u32).fold(0, |all, flips| {
        let flip = |value: u64, bit: usize| {
            if flips >> bit & 1 == 1 {
                value ^ unknown[bit]
            } else {
                value
            }
        };
        all | (looked_up(table, flip(a, 0), flip(b, 1), flip(c, 2)) ^ known)
    })
}

fn compared(op: Comparison, order: Option<std::cmp::Ordering>) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    matches!(
        (op, order),
        (Comparison::Numbers, _)
            | (
                Comparison::Equal | Comparison::LessEqual | Comparison::GreaterEqual,
                Some(Equal)
            )
            | (
                Comparison::Less | Comparison::LessEqual | Comparison::NotEqual,
                Some(Less)
            )
            | (
                Comparison::Greater | Comparison::GreaterEqual | Comparison::NotEqual,
                Some(Greater)
            )
    )
}

/// The bits of a number with a point as one of 64 bits.
fn number(bits: u64, of: Type, flushes: bool) -> f64 {
    match of.bits {
        64 => f64::from_bits(bits),
        32 => {
            let value = f32::from_bits(bits as u32);
            f64::from(if flushes {
                crate::float::flushed(value)
            } else {
                value
            })
        }
        _ => f64::from(from_half(bits as u16, of.kind)),
    }
}
