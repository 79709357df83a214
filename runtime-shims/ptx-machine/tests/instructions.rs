//! Each instruction alone: what it gives for many operands is what the host computes.

mod common;

use common::Device;
use okl_testing::Random;

/// Bits of an operand: any, small ones, and those at the ends of ranges and of numbers with a point.
fn operand(random: &mut Random) -> u64 {
    let word = random.word();
    match random.below(8) {
        0 => word & 0xff,
        1 => (word & 0xff).wrapping_neg(),
        2 => 1 << (word & 63),
        3 => (1u64 << (word & 63)).wrapping_sub(1),
        4 => f64::from(word as u32 as i32 >> (word >> 40 & 31)).to_bits(),
        5 => {
            let float =
                |word: u64| (word as u32 & 0x807f_ffff) | 0x3f00_0000 | (word as u32 & 0x0180_0000);
            u64::from(float(word)) | (u64::from(float(word >> 32)) << 32)
        }
        6 => (word & 0x800f_ffff_ffff_ffff) | ((1000 + (word >> 52 & 63)) << 52),
        _ => word,
    }
}

/// The lines of a kernel that have three operands of 64 bits, `%a %b %c`, of which the lower parts are `%ra %rb %rc` and
/// `%ha %hb %hc`, and leave `%d`, or `%rd` or `%hd` of fewer bits (`of`).
fn run(device: &Device, of: &str, line: &str, expected: impl Fn(u64, u64, u64) -> u64) {
    const COUNT: usize = 4096;
    let copies = match of {
        "64" => "",
        "32" => "cvt.u64.u32 %d, %rd;",
        "16" => "cvt.u64.u16 %d, %hd;",
        _ => "selp.b64 %d, 1, 0, %p;",
    };
    let text = format!(
        ".version 7.0
         .target sm_70
         .address_size 64
         .visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1) {{
           .reg .b64 %a, %b, %c, %d, %in, %out, %at;
           .reg .b32 %ra, %rb, %rc, %rd, %x, %y, %z;
           .reg .b16 %ha, %hb, %hc, %hd;
           .reg .pred %p, %q;
           ld.param.u64 %in, [k_param_0];
           ld.param.u64 %out, [k_param_1];
           mov.u32 %x, %ctaid.x;
           mov.u32 %y, %tid.x;
           mov.u32 %z, %ntid.x;
           mad.lo.s32 %x, %x, %z, %y;
           mul.wide.u32 %at, %x, 24;
           add.s64 %in, %in, %at;
           mul.wide.u32 %at, %x, 8;
           add.s64 %out, %out, %at;
           ld.global.b64 %a, [%in];
           ld.global.b64 %b, [%in+8];
           ld.global.b64 %c, [%in+16];
           cvt.u32.u64 %ra, %a; cvt.u32.u64 %rb, %b; cvt.u32.u64 %rc, %c;
           cvt.u16.u64 %ha, %a; cvt.u16.u64 %hb, %b; cvt.u16.u64 %hc, %c;
           setp.lt.s32 %q, %rc, 0;
           {line}
           {copies}
           st.global.b64 [%out], %d;
           ret;
         }}"
    );
    let mut random = Random(
        line.bytes()
            .fold(7, |all, byte| all * 31 % 0xffff_ffff + u64::from(byte))
            | 1,
    );
    let operands: Vec<u64> = (0..3 * COUNT).map(|_| operand(&mut random)).collect();
    let module = device.load(&text);
    let (own, out) = (device.with(&operands), device.memory(8 * COUNT));
    let kernel = device.kernel(module, "k");
    assert_eq!(
        device.launch(kernel, COUNT as u32 / 128, 128, &[&own, &out]),
        0,
        "{line}"
    );
    let results = device
        .read::<u64>(out)
        .unwrap_or_else(|error| panic!("{line}: {error}"));
    for (operands, result) in operands.chunks(3).zip(results) {
        let [a, b, c] = [operands[0], operands[1], operands[2]];
        let right = expected(a, b, c);
        assert_eq!(
            result, right,
            "{line}\n{a:#x} {b:#x} {c:#x}: {result:#x}, not {right:#x}"
        );
    }
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// As PTX has what is no number.
fn bits32(value: f32) -> u64 {
    if value.is_nan() {
        0x7fff_ffff
    } else {
        value.to_bits().into()
    }
}

/// Any number that is none is as good as another one of 64 bits.
fn bits64(value: f64) -> u64 {
    value.to_bits()
}

#[test]
fn whole_numbers() {
    let device = Device::new("");
    let all = |line: &str, f: fn(u32, u32, u32) -> u32| {
        run(&device, "32", line, |a, b, c| {
            f(a as u32, b as u32, c as u32).into()
        });
    };
    let signed = |line: &str, f: fn(i32, i32, i32) -> i32| {
        run(&device, "32", line, |a, b, c| {
            (f(a as i32, b as i32, c as i32) as u32).into()
        });
    };
    let long = |line: &str, f: fn(u64, u64, u64) -> u64| run(&device, "64", line, f);
    let short = |line: &str, f: fn(u16, u16, u16) -> u16| {
        run(&device, "16", line, |a, b, c| {
            f(a as u16, b as u16, c as u16).into()
        });
    };
    all("add.s32 %rd, %ra, %rb;", |a, b, _| a.wrapping_add(b));
    all("sub.u32 %rd, %ra, %rb;", |a, b, _| a.wrapping_sub(b));
    all("mul.lo.u32 %rd, %ra, %rb;", |a, b, _| a.wrapping_mul(b));
    all("mul.hi.u32 %rd, %ra, %rb;", |a, b, _| {
        ((u64::from(a) * u64::from(b)) >> 32) as u32
    });
    signed("mul.hi.s32 %rd, %ra, %rb;", |a, b, _| {
        ((i64::from(a) * i64::from(b)) >> 32) as i32
    });
    signed("mad.lo.s32 %rd, %ra, %rb, %rc;", |a, b, c| {
        a.wrapping_mul(b).wrapping_add(c)
    });
    signed("mad.hi.s32 %rd, %ra, %rb, %rc;", |a, b, c| {
        (((i64::from(a) * i64::from(b)) >> 32) as i32).wrapping_add(c)
    });
    all("or.b32 %rb, %rb, 1; div.u32 %rd, %ra, %rb;", |a, b, _| {
        a / (b | 1)
    });
    all("or.b32 %rb, %rb, 1; rem.u32 %rd, %ra, %rb;", |a, b, _| {
        a % (b | 1)
    });
    signed("or.b32 %rb, %rb, 1; div.s32 %rd, %ra, %rb;", |a, b, _| {
        a.wrapping_div(b | 1)
    });
    signed("or.b32 %rb, %rb, 1; rem.s32 %rd, %ra, %rb;", |a, b, _| {
        a.wrapping_rem(b | 1)
    });
    signed("min.s32 %rd, %ra, %rb;", |a, b, _| a.min(b));
    signed("max.s32 %rd, %ra, %rb;", |a, b, _| a.max(b));
    all("min.u32 %rd, %ra, %rb;", |a, b, _| a.min(b));
    all("max.u32 %rd, %ra, %rb;", |a, b, _| a.max(b));
    signed("abs.s32 %rd, %ra;", |a, _, _| a.wrapping_abs());
    signed("neg.s32 %rd, %ra;", |a, _, _| a.wrapping_neg());
    signed("add.sat.s32 %rd, %ra, %rb;", |a, b, _| a.saturating_add(b));
    signed("sub.sat.s32 %rd, %ra, %rb;", |a, b, _| a.saturating_sub(b));
    signed("sad.s32 %rd, %ra, %rb, %rc;", |a, b, c| {
        (c as u32).wrapping_add(a.abs_diff(b)) as i32
    });
    signed("mul24.lo.s32 %rd, %ra, %rb;", |a, b, _| {
        (a << 8 >> 8).wrapping_mul(b << 8 >> 8)
    });
    long("add.s64 %d, %a, %b;", |a, b, _| a.wrapping_add(b));
    long("sub.s64 %d, %a, %b;", |a, b, _| a.wrapping_sub(b));
    long("mul.lo.s64 %d, %a, %b;", |a, b, _| a.wrapping_mul(b));
    long("mul.hi.u64 %d, %a, %b;", |a, b, _| {
        ((u128::from(a) * u128::from(b)) >> 64) as u64
    });
    long("mul.hi.s64 %d, %a, %b;", |a, b, _| {
        ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
    });
    long("mul.wide.s32 %d, %ra, %rb;", |a, b, _| {
        i64::from(a as i32).wrapping_mul(i64::from(b as i32)) as u64
    });
    long("mul.wide.u32 %d, %ra, %rb;", |a, b, _| {
        (a & 0xffff_ffff) * (b & 0xffff_ffff)
    });
    all("mul.wide.u16 %rd, %ha, %hb;", |a, b, _| {
        (a & 0xffff) * (b & 0xffff)
    });
    signed("mul.wide.s16 %rd, %ha, %hb;", |a, b, _| {
        i32::from(a as i16) * i32::from(b as i16)
    });
    long("mad.wide.s32 %d, %ra, %rb, %c;", |a, b, c| {
        (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64
    });
    long("or.b64 %b, %b, 1; div.s64 %d, %a, %b;", |a, b, _| {
        (a as i64).wrapping_div(b as i64 | 1) as u64
    });
    long("or.b64 %b, %b, 1; rem.u64 %d, %a, %b;", |a, b, _| {
        a % (b | 1)
    });
    short("add.s16 %hd, %ha, %hb;", |a, b, _| a.wrapping_add(b));
    short("mul.lo.s16 %hd, %ha, %hb;", |a, b, _| a.wrapping_mul(b));
    short("or.b16 %hb, %hb, 1; div.s16 %hd, %ha, %hb;", |a, b, _| {
        (a as i16).wrapping_div(b as i16 | 1) as u16
    });
    short("min.s16 %hd, %ha, %hb;", |a, b, _| {
        (a as i16).min(b as i16) as u16
    });
}

#[test]
fn bits() {
    let device = Device::new("");
    let all = |line: &str, f: fn(u32, u32, u32) -> u32| {
        run(&device, "32", line, |a, b, c| {
            f(a as u32, b as u32, c as u32).into()
        });
    };
    let long = |line: &str, f: fn(u64, u64, u64) -> u64| run(&device, "64", line, f);
    all("and.b32 %rd, %ra, %rb;", |a, b, _| a & b);
    all("or.b32 %rd, %ra, %rb;", |a, b, _| a | b);
    all("xor.b32 %rd, %ra, %rb;", |a, b, _| a ^ b);
    all("not.b32 %rd, %ra;", |a, _, _| !a);
    all("cnot.b32 %rd, %ra;", |a, _, _| u32::from(a == 0));
    all("shl.b32 %rd, %ra, %rb;", |a, b, _| {
        a.checked_shl(b).unwrap_or(0)
    });
    all("shr.u32 %rd, %ra, %rb;", |a, b, _| {
        a.checked_shr(b).unwrap_or(0)
    });
    all("shr.s32 %rd, %ra, %rb;", |a, b, _| {
        ((a as i32) >> b.min(31)) as u32
    });
    long("shl.b64 %d, %a, %rb;", |a, b, _| {
        a.checked_shl(b as u32).unwrap_or(0)
    });
    long("shr.s64 %d, %a, %rb;", |a, b, _| {
        ((a as i64) >> (b as u32).min(63)) as u64
    });
    run(&device, "16", "shr.s16 %hd, %ha, %rb;", |a, b, _| {
        u64::from(((a as i16) >> (b as u32).min(15)) as u16)
    });
    all("popc.b32 %rd, %ra;", |a, _, _| a.count_ones());
    all("clz.b32 %rd, %ra;", |a, _, _| a.leading_zeros());
    run(&device, "32", "popc.b64 %rd, %a;", |a, _, _| {
        a.count_ones().into()
    });
    run(&device, "32", "clz.b64 %rd, %a;", |a, _, _| {
        a.leading_zeros().into()
    });
    all("brev.b32 %rd, %ra;", |a, _, _| a.reverse_bits());
    long("brev.b64 %d, %a;", |a, _, _| a.reverse_bits());
    all("bfind.u32 %rd, %ra;", |a, _, _| {
        31u32.wrapping_sub(a.leading_zeros())
    });
    all("bfind.shiftamt.u32 %rd, %ra;", |a, _, _| {
        if a == 0 { !0 } else { a.leading_zeros() }
    });
    all("bfind.s32 %rd, %ra;", |a, _, _| {
        let a = if (a as i32) < 0 { !a } else { a };
        31u32.wrapping_sub(a.leading_zeros())
    });
    all("shf.l.wrap.b32 %rd, %ra, %rb, %rc;", |a, b, c| {
        ((u64::from(b) << 32 | u64::from(a)) << (c & 31) >> 32) as u32
    });
    all("shf.r.wrap.b32 %rd, %ra, %rb, %rc;", |a, b, c| {
        ((u64::from(b) << 32 | u64::from(a)) >> (c & 31)) as u32
    });
    all("shf.r.clamp.b32 %rd, %ra, %rb, %rc;", |a, b, c| {
        ((u64::from(b) << 32 | u64::from(a)) >> c.min(32)) as u32
    });
    // As the manual of PTX writes them.
    all("bfe.u32 %rd, %ra, %rb, %rc;", |a, b, c| {
        extracted(a.into(), b, c, false, 32) as u32
    });
    all("bfe.s32 %rd, %ra, %rb, %rc;", |a, b, c| {
        extracted(a.into(), b, c, true, 32) as u32
    });
    long("bfe.u64 %d, %a, %rb, %rc;", |a, b, c| {
        extracted(a, b as u32, c as u32, false, 64)
    });
    long("bfe.s64 %d, %a, %rb, %rc;", |a, b, c| {
        extracted(a, b as u32, c as u32, true, 64)
    });
    all("bfi.b32 %rd, %ra, %rb, %rc, 5;", |a, b, c| {
        (0..32u32).fold(0, |all, bit| {
            let at = c & 255;
            let value = if bit >= at && bit < at + 5 {
                a >> (bit - at)
            } else {
                b >> bit
            };
            all | (value & 1) << bit
        })
    });
    all("prmt.b32 %rd, %ra, %rb, %rc;", |a, b, c| {
        let bytes = [a.to_le_bytes(), b.to_le_bytes()].concat();
        u32::from_le_bytes(std::array::from_fn(|place| {
            let choice = c >> (4 * place) & 15;
            let byte = bytes[choice as usize & 7];
            if choice & 8 != 0 {
                ((byte as i8) >> 7) as u8
            } else {
                byte
            }
        }))
    });
    all("lop3.b32 %rd, %ra, %rb, %rc, 0x96;", |a, b, c| a ^ b ^ c);
    all("lop3.b32 %rd, %ra, %rb, %rc, 0xE8;", |a, b, c| {
        (a & b) | (a & c) | (b & c)
    });
    all("lop3.b32 %rd, %ra, %rb, %rc, 0xCA;", |a, b, c| {
        (a & b) | (!a & c)
    });
    long("mov.b64 {%x, %y}, %a; mov.b64 %d, {%y, %x};", |a, _, _| {
        a.rotate_left(32)
    });
    all(
        "mov.b32 {%ha, %hb}, %ra; mov.b32 %rd, {%hb, %ha};",
        |a, _, _| a.rotate_left(16),
    );
    all("mov.b64 {%x, _}, %a; mov.b32 %rd, %x;", |a, _, _| a);
}

fn extracted(a: u64, position: u32, length: u32, is_signed: bool, bits: u32) -> u64 {
    let (position, length, top) = (position & 255, length & 255, bits - 1);
    let sign = match is_signed && length > 0 {
        true => a >> (position + length - 1).min(top) & 1,
        false => 0,
    };
    (0..bits).fold(0, |all, bit| {
        let is_in = bit < length && position + bit <= top;
        let value = if is_in {
            a >> (position + bit) & 1
        } else {
            sign
        };
        all | value << bit
    })
}

#[test]
fn carries() {
    let device = Device::new("");
    let long = |line: &str, f: fn(u64, u64) -> u64| run(&device, "64", line, |a, b, _| f(a, b));
    let parts = "mov.b64 {%ra, %x}, %a; mov.b64 {%rb, %y}, %b;";
    let sum = "add.cc.u32 %ra, %ra, %rb; addc.u32 %x, %x, %y; mov.b64 %d, {%ra, %x};";
    long(&format!("{parts} {sum}"), u64::wrapping_add);
    let difference = "sub.cc.u32 %ra, %ra, %rb; subc.u32 %x, %x, %y; mov.b64 %d, {%ra, %x};";
    long(&format!("{parts} {difference}"), u64::wrapping_sub);
    // The upper half of a product of 64 bits by 32, and a carry that goes into the sum of two upper halves.
    let product = "mul.lo.u32 %z, %ra, %rb; mad.hi.cc.u32 %z, %ra, %rb, %y; addc.u32 %x, 0, 0; mov.b64 %d, {%z, %x};";
    long(&format!("{parts} {product}"), |a, b| {
        let high = ((a & 0xffff_ffff) * (b & 0xffff_ffff)) >> 32;
        high + (b >> 32)
    });
}

#[test]
fn numbers_with_a_point() {
    let device = Device::new("");
    let single = |line: &str, f: fn(f32, f32, f32) -> f32| {
        run(&device, "32", line, |a, b, c| {
            bits32(f(f32_of(a), f32_of(b), f32_of(c)))
        });
    };
    let double = |line: &str, f: fn(f64, f64, f64) -> f64| {
        let line = format!("{line} testp.notanumber.f64 %p, %d; selp.b64 %d, -1, %d, %p;");
        run(&device, "64", &line, |a, b, c| {
            let value = f(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            if value.is_nan() { !0 } else { bits64(value) }
        });
    };
    single("add.rn.f32 %rd, %ra, %rb;", |a, b, _| a + b);
    single("sub.f32 %rd, %ra, %rb;", |a, b, _| a - b);
    single("mul.rn.f32 %rd, %ra, %rb;", |a, b, _| a * b);
    single("fma.rn.f32 %rd, %ra, %rb, %rc;", f32::mul_add);
    single("div.rn.f32 %rd, %ra, %rb;", |a, b, _| a / b);
    single("sqrt.rn.f32 %rd, %ra;", |a, _, _| a.sqrt());
    single("rcp.rn.f32 %rd, %ra;", |a, _, _| 1.0 / a);
    single("add.ftz.f32 %rd, %ra, %rb;", |a, b, _| {
        let flush = |value: f32| {
            if value.is_subnormal() {
                0f32.copysign(value)
            } else {
                value
            }
        };
        flush(flush(a) + flush(b))
    });
    single("mul.rz.f32 %rd, %ra, %rb;", |a, b, _| {
        let (exact, near) = (f64::from(a) * f64::from(b), a * b);
        if near.is_infinite() && exact.is_finite() {
            f32::MAX.copysign(near)
        } else if f64::from(near).abs() > exact.abs() && near.is_finite() {
            f32::from_bits(near.to_bits() - 1)
        } else {
            near
        }
    });
    let pick = |a: f32, b: f32, takes_a: bool| if takes_a || b.is_nan() { a } else { b };
    run(&device, "32", "min.f32 %rd, %ra, %rb;", |a, b, _| {
        let (a, b) = (f32_of(a), f32_of(b));
        bits32(pick(a, b, a < b || a == b && a.is_sign_negative()))
    });
    run(&device, "32", "max.f32 %rd, %ra, %rb;", |a, b, _| {
        let (a, b) = (f32_of(a), f32_of(b));
        bits32(pick(a, b, a > b || a == b && a.is_sign_positive()))
    });
    single("add.sat.f32 %rd, %ra, %rb;", |a, b, _| {
        let sum = a + b;
        if sum.is_nan() {
            0.0
        } else {
            sum.clamp(0.0, 1.0) + 0.0
        }
    });
    run(&device, "32", "neg.f32 %rd, %ra;", |a, _, _| {
        (a as u32 ^ 1 << 31).into()
    });
    run(&device, "32", "abs.f32 %rd, %ra;", |a, _, _| {
        (a as u32 & !(1 << 31)).into()
    });
    run(&device, "32", "copysign.f32 %rd, %ra, %rb;", |a, b, _| {
        (b as u32 & !(1 << 31) | a as u32 & 1 << 31).into()
    });
    double("add.rn.f64 %d, %a, %b;", |a, b, _| a + b);
    double("sub.rn.f64 %d, %a, %b;", |a, b, _| a - b);
    double("mul.rn.f64 %d, %a, %b;", |a, b, _| a * b);
    double("fma.rn.f64 %d, %a, %b, %c;", f64::mul_add);
    double("div.rn.f64 %d, %a, %b;", |a, b, _| a / b);
    double("sqrt.rn.f64 %d, %a;", |a, _, _| a.sqrt());
    double("rcp.rn.f64 %d, %a;", |a, _, _| 1.0 / a);
    double("neg.f64 %d, %a;", |a, _, _| -a);
    double("abs.f64 %d, %a;", |a, _, _| a.abs());
}

#[test]
fn conversions() {
    let device = Device::new("");
    let to = |of: &str, line: &str, f: fn(u64) -> u64| run(&device, of, line, |a, _, _| f(a));
    to("32", "cvt.rn.f32.s32 %rd, %ra;", |a| {
        (a as i32 as f32).to_bits().into()
    });
    to("32", "cvt.rn.f32.u64 %rd, %a;", |a| {
        (a as f32).to_bits().into()
    });
    to("64", "cvt.rn.f64.s64 %d, %a;", |a| {
        (a as i64 as f64).to_bits()
    });
    to("64", "cvt.rn.f64.u32 %d, %ra;", |a| {
        f64::from(a as u32).to_bits()
    });
    to("32", "cvt.rz.f32.u32 %rd, %ra;", |a| {
        let a = a as u32;
        let cut = 32 - a.leading_zeros().min(8) - 24;
        ((a >> cut << cut) as f32).to_bits().into()
    });
    to("32", "cvt.rzi.s32.f32 %rd, %ra;", |a| {
        (f32_of(a) as i32 as u32).into()
    });
    to("32", "cvt.rzi.u32.f32 %rd, %ra;", |a| {
        (f32_of(a) as u32).into()
    });
    to("32", "cvt.rzi.s32.f64 %rd, %a;", |a| {
        let a = f64::from_bits(a);
        if a.is_nan() {
            1 << 31
        } else {
            (a as i32 as u32).into()
        }
    });
    to("64", "cvt.rzi.s64.f64 %d, %a;", |a| {
        let a = f64::from_bits(a);
        if a.is_nan() { 1 << 63 } else { a as i64 as u64 }
    });
    to("64", "cvt.rzi.u64.f32 %d, %ra;", |a| {
        let a = f32_of(a);
        if a.is_nan() { 1 << 63 } else { a as u64 }
    });
    to("32", "cvt.rmi.f32.f32 %rd, %ra;", |a| {
        bits32(f32_of(a).floor())
    });
    to("32", "cvt.rpi.f32.f32 %rd, %ra;", |a| {
        bits32(f32_of(a).ceil())
    });
    to("32", "cvt.rni.s32.f32 %rd, %ra;", |a| {
        (f32_of(a).round_ties_even() as i32 as u32).into()
    });
    to("32", "cvt.rn.f32.f64 %rd, %a;", |a| {
        bits32(f64::from_bits(a) as f32)
    });
    to("64", "cvt.f64.f32 %d, %ra;", |a| {
        f64::from(f32_of(a)).to_bits()
    });
    to("64", "cvt.s64.s32 %d, %ra;", |a| i64::from(a as i32) as u64);
    to("64", "cvt.u64.u32 %d, %ra;", |a| a & 0xffff_ffff);
    to("32", "cvt.s32.s16 %rd, %ha;", |a| {
        (i32::from(a as i16) as u32).into()
    });
    to("32", "cvt.s32.s8 %rd, %ra;", |a| {
        (i32::from(a as i8) as u32).into()
    });
    to("32", "cvt.u32.u8 %rd, %ra;", |a| a & 0xff);
    to("16", "cvt.s16.s8 %hd, %ra;", |a| {
        u64::from(i16::from(a as i8) as u16)
    });
    to("32", "cvt.sat.s8.s32 %rd, %ra;", |a| {
        (i32::from((a as i32).clamp(-128, 127) as i8) as u32).into()
    });
    to("32", "cvt.sat.u8.s32 %rd, %ra;", |a| {
        (a as i32).clamp(0, 255) as u64
    });
    to("32", "cvt.sat.u32.s64 %rd, %a;", |a| {
        (a as i64).clamp(0, 0xffff_ffff) as u64
    });
}

#[test]
fn comparisons_and_selections() {
    let device = Device::new("");
    let truth = |line: &str, f: fn(u64, u64, u64) -> bool| {
        run(&device, "pred", line, |a, b, c| f(a, b, c).into());
    };
    truth("setp.lt.s32 %p, %ra, %rb;", |a, b, _| {
        (a as i32) < (b as i32)
    });
    truth("setp.lo.u32 %p, %ra, %rb;", |a, b, _| {
        (a as u32) < (b as u32)
    });
    truth("setp.ge.u64 %p, %a, %b;", |a, b, _| a >= b);
    truth("setp.eq.b16 %p, %ha, %hb;", |a, b, _| a as u16 == b as u16);
    truth("setp.gt.s16 %p, %ha, 5;", |a, _, _| a as i16 > 5);
    truth("setp.lt.f32 %p, %ra, %rb;", |a, b, _| f32_of(a) < f32_of(b));
    truth("setp.ltu.f32 %p, %ra, %rb;", |a, b, _| {
        let order = f32_of(a).partial_cmp(&f32_of(b));
        order.is_none_or(std::cmp::Ordering::is_lt)
    });
    truth("setp.neu.f64 %p, %a, %b;", |a, b, _| {
        f64::from_bits(a) != f64::from_bits(b)
    });
    truth("setp.ne.f32 %p, %ra, %rb;", |a, b, _| {
        f32_of(a) < f32_of(b) || f32_of(a) > f32_of(b)
    });
    truth("setp.nan.f32 %p, %ra, %rb;", |a, b, _| {
        f32_of(a).is_nan() || f32_of(b).is_nan()
    });
    truth("setp.num.f32 %p, %ra, %rb;", |a, b, _| {
        !f32_of(a).is_nan() && !f32_of(b).is_nan()
    });
    truth("setp.lt.and.s32 %p, %ra, %rb, %q;", |a, b, c| {
        (a as i32) < (b as i32) && (c as i32) < 0
    });
    truth("setp.lt.or.s32 %p, %ra, %rb, !%q;", |a, b, c| {
        (a as i32) < (b as i32) || (c as i32) >= 0
    });
    truth("setp.eq.s32 _|%p, %ra, %rb;", |a, b, _| {
        a as i32 != b as i32
    });
    truth("xor.pred %p, %q, -1;", |_, _, c| (c as i32) >= 0);
    truth("not.pred %p, %q;", |_, _, c| (c as i32) >= 0);
    run(&device, "32", "selp.b32 %rd, %ra, %rb, %q;", |a, b, c| {
        (if (c as i32) < 0 { a } else { b }) & 0xffff_ffff
    });
    run(
        &device,
        "32",
        "slct.b32.s32 %rd, %ra, %rb, %rc;",
        |a, b, c| (if (c as i32) >= 0 { a } else { b }) & 0xffff_ffff,
    );
    run(&device, "32", "set.gt.u32.s32 %rd, %ra, %rb;", |a, b, _| {
        if a as i32 > b as i32 { 0xffff_ffff } else { 0 }
    });
    run(&device, "32", "set.le.f32.u32 %rd, %ra, %rb;", |a, b, _| {
        if a as u32 <= b as u32 { 0x3f80_0000 } else { 0 }
    });
    run(
        &device,
        "32",
        "mov.b32 %rd, %ra;\n@%q mov.b32 %rd, %rb;",
        |a, b, c| (if (c as i32) < 0 { b } else { a }) & 0xffff_ffff,
    );
}
