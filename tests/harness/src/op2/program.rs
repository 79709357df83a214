//! Random OP2 programs: what they declare, the loops they run, and what they look at.

use std::fmt::Write;

use crate::random::text::{Random, Text};

use super::calls::{Bound, Call};
use super::expression::Leaf;
use super::kernel::{Access, Parameter, Scalar, What, kernel};

const PRELUDE: &str = include_str!("prelude.h");

pub(super) struct Set {
    pub(super) size: usize,
}

pub(super) struct Map {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) arity: usize,
    /// No target is reached twice.
    pub(super) is_own: bool,
}

pub(super) struct Dat {
    pub(super) set: usize,
    pub(super) scalar: Scalar,
    pub(super) dim: usize,
    pub(super) is_soa: bool,
    /// Only read.
    pub(super) is_kept: bool,
    is_temporary: bool,
    pub(super) is_there: bool,
}

pub(super) struct Global {
    pub(super) scalar: Scalar,
    pub(super) dim: usize,
}

/// A kernel that a loop may use again.
struct Known {
    name: String,
    parameters: Vec<Parameter>,
}

/// What a program consists of so far.
pub(super) struct Program {
    pub(super) random: Random,
    pub(super) sets: Vec<Set>,
    pub(super) maps: Vec<Map>,
    pub(super) dats: Vec<Dat>,
    pub(super) globals: Vec<Global>,
    constants: Vec<Leaf>,
    kernels: Vec<Known>,
    /// Constants and kernels.
    functions: String,
    /// Kernels in `main`.
    lambdas: String,
    /// The global variables, in `main`.
    variables: String,
    pub(super) main: Text,
    names: usize,
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> String {
    let mut program = Program {
        random: Random::new(seed.wrapping_mul(0x2545_f491) + 4),
        sets: Vec::new(),
        maps: Vec::new(),
        dats: Vec::new(),
        globals: Vec::new(),
        constants: Vec::new(),
        kernels: Vec::new(),
        functions: String::new(),
        lambdas: String::new(),
        variables: String::new(),
        main: Text::default(),
        names: 0,
    };
    program.declarations();
    let declarations = std::mem::take(&mut program.main).into_string();
    program.steps();
    let steps = std::mem::take(&mut program.main).into_string();
    let level = program.random.between(0, 2);
    format!(
        "// A random program, seed {seed}: must print what it prints without the plugin.\n{PRELUDE}\n{}\n\
         int main(int argc, char **argv) {{\n\
         op_init(argc, argv, {level});\n\
         in_full = !strcmp(value_of(argc, argv, \"full\"), \"yes\");\n\
         char const *way = value_of(argc, argv, \"way\"), *again = value_of(argc, argv, \"again\");\n\
         bool renumber = !strcmp(value_of(argc, argv, \"renumber\"), \"yes\");\n\
         state = {seed};\n\
         int round = 0, dim1 = 1, dim2 = 2, dim3 = 3, dim4 = 4, dim5 = 5, dim6 = 6;\n\
         (void)(round + dim1 + dim2 + dim3 + dim4 + dim5 + dim6);\n\
         {}{}{declarations}{steps}\
         end();\n\
         op_exit();\n}}\n",
        program.functions, program.variables, program.lambdas,
    )
}

/// No multiples of what vectors hold; some loops are worth several threads.
const SIZES: [usize; 16] = [
    1, 2, 3, 7, 17, 63, 65, 130, 333, 511, 700, 901, 1023, 1777, 2501, 3999,
];

impl Program {
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn declarations(&mut self) {
        let count = self.random.between(2, 4);
        for _ in 0..count {
            self.declare_set(false);
        }
        let to = self.random.between(0, count - 1);
        self.sets[to].size = self.sets[to].size.max(1);
        for set in 0..count {
            self.write_set(set);
        }
        // A map that divides the mesh, coordinates, and owners.
        let from = self.random.between(0, count - 1);
        self.declare_map(from, to);
        for _ in 0..self.random.between(1, 4) {
            let (from, to) = (
                self.random.between(0, count - 1),
                self.random.between(0, count - 1),
            );
            if self.sets[to].size > 0 || self.sets[from].size == 0 {
                self.declare_map(from, to);
            }
        }
        let on = |set, scalar, dim| Dat {
            set,
            scalar,
            dim,
            is_soa: false,
            is_kept: true,
            is_temporary: false,
            is_there: true,
        };
        self.declare(on(to, Scalar::Double, 2), "values<double>", (-20, 60));
        self.declare(on(to, Scalar::Int, 1), "values<int>", (0, 2));
        for _ in 0..self.random.between(5, 11) {
            let set = self.random.between(0, count - 1);
            self.declare_dat(set);
        }
        for _ in 0..self.random.between(0, 3) {
            self.declare_constant();
        }
        let again = self.random.between(0, self.maps.len() - 1);
        self.main.line(format!("divide(way, s{to}, m0, d0, d1);"));
        self.main
            .line(format!("if (renumber) op_renumber(m{again});"));
    }

    fn declare_set(&mut self, is_shown: bool) -> usize {
        let size = match self.random.between(0, 9) {
            0 => 0,
            1..=2 => self.random.one_of(&SIZES[..7]),
            _ => self.random.one_of(&SIZES[7..]),
        };
        self.sets.push(Set { size });
        let set = self.sets.len() - 1;
        if is_shown {
            self.write_set(set);
        }
        set
    }

    fn write_set(&mut self, set: usize) {
        let size = self.sets[set].size;
        self.main
            .line(format!("op_set s{set} = op_decl_set({size}, \"s{set}\");"));
    }

    fn declare_map(&mut self, from: usize, to: usize) {
        let (size, targets) = (self.sets[from].size, self.sets[to].size);
        let most = targets.checked_div(size).unwrap_or(5).min(5);
        let is_own = most > 0 && self.random.chance(40);
        let (shape, arity) = match is_own {
            true => (
                self.random.pick(&["OWN", "OWN_IN_ORDER"]),
                self.random.between(1, most),
            ),
            false => (
                self.random
                    .pick(&["ANY", "NEAR", "NEAR", "FEW", "REPEATED", "MOSTLY_ONE"]),
                self.random.between(1, 5),
            ),
        };
        let map = self.maps.len();
        self.main.line(format!(
            "op_map m{map} = op_decl_map(s{from}, s{to}, {arity}, rows({shape}, {size}, {arity}, {targets}), \"m{map}\");"
        ));
        self.maps.push(Map {
            from,
            to,
            arity,
            is_own,
        });
    }

    fn declare_dat(&mut self, set: usize) {
        let scalar = Scalar::random(&mut self.random);
        let dat = Dat {
            set,
            scalar,
            dim: self.random.one_of(&[1, 1, 2, 2, 3, 3, 4, 5, 6]),
            is_soa: self.random.chance(35),
            is_kept: false,
            is_temporary: false,
            is_there: true,
        };
        let low = if scalar.is_signed() { -20 } else { 0 };
        let range = if scalar == Scalar::Bool {
            (0, 2)
        } else {
            (low, 50)
        };
        let of = match self.random.chance(15) {
            true => String::new(),
            false => format!("values<{}>", scalar.name()),
        };
        self.declare(dat, &of, range);
    }

    /// `of`: what makes the values; zeros if it is empty.
    fn declare(&mut self, dat: Dat, of: &str, (low, below): (i32, i32)) {
        let at = self.dats.len();
        let (set, dim, name) = (dat.set, dat.dim, dat.scalar.name());
        let order = if dat.is_soa { ":soa" } else { "" };
        let count = self.sets[set].size * dim;
        let data = match of {
            "" => format!("({name} *)NULL"),
            _ => format!("{of}({count}, {low}, {below})"),
        };
        self.main.line(match dat.is_temporary {
            true => format!(
                "op_dat d{at} = op_decl_dat_temp(s{set}, {dim}, \"{name}{order}\", ({name} *)NULL, \"d{at}\");"
            ),
            false => format!(
                "op_dat d{at} = op_decl_dat(s{set}, {dim}, \"{name}{order}\", {data}, \"d{at}\");"
            ),
        });
        self.dats.push(dat);
    }

    fn declare_constant(&mut self) {
        let name = self.name("c");
        let scalar = self
            .random
            .one_of(&[Scalar::Double, Scalar::Float, Scalar::Int]);
        let dim = self.random.between(1, 3);
        let linkage = self.random.pick(&["", "static "]);
        let values: Vec<_> = (0..dim)
            .map(|_| self.random.between(0, 30).to_string())
            .collect();
        let (ty, values) = (scalar.name(), values.join(", "));
        let _ = writeln!(
            self.functions,
            "{linkage}{ty} {name}[{dim}] = {{{values}}};"
        );
        self.main
            .line(format!("op_decl_const({dim}, \"{ty}\", {name});"));
        for k in 0..dim {
            self.constants
                .push(Leaf::small(format!("{name}[{k}]"), 30.0));
        }
    }

    /// A global variable of a type and dimension that is not among `used`.
    pub(super) fn global(&mut self, scalar: Scalar, dim: usize, used: &[usize]) -> usize {
        let all = self.globals.iter().enumerate();
        let free =
            all.filter(|(at, one)| (one.scalar, one.dim) == (scalar, dim) && !used.contains(at));
        let free: Vec<_> = free.map(|(at, _)| at).collect();
        if !free.is_empty() && self.random.chance(60) {
            return self.random.one_of(&free);
        }
        let values: Vec<_> = (0..dim)
            .map(|_| self.random.between(0, 40).to_string())
            .collect();
        let at = self.globals.len();
        let (ty, values) = (scalar.name(), values.join(", "));
        let _ = writeln!(self.variables, "{ty} g{at}[{dim}] = {{{values}}};");
        self.globals.push(Global { scalar, dim });
        at
    }

    fn steps(&mut self) {
        let steps = self.random.between(4, 9);
        let middle = self.random.between(0, steps - 1);
        for step in 0..steps {
            if step == middle {
                let to = self.maps[0].to;
                self.main.line(format!("divide(again, s{to}, m0, d0, d1);"));
            }
            match self.random.between(0, 11) {
                0..=4 => self.par_loop(false),
                5..=7 => {
                    let rounds = self.random.between(2, 3);
                    self.main
                        .line(format!("for (int round = 0; round < {rounds}; round++) {{"));
                    for _ in 0..self.random.between(1, 3) {
                        self.par_loop(true);
                    }
                    if self.random.chance(40) {
                        self.look();
                    }
                    self.main.line("}");
                }
                8 => self.look(),
                9 => self.late(),
                10 => self.free_temporary(),
                _ => self.temporary(),
            }
        }
        for dat in 0..self.dats.len() {
            if self.dats[dat].is_there {
                self.show(dat, "end");
            }
        }
    }

    fn show(&mut self, dat: usize, when: &str) {
        let ty = self.dats[dat].scalar.name();
        self.main.line(format!("show<{ty}>(\"{when}\", d{dat});"));
    }

    fn some_dat(&mut self, wanted: impl Fn(&Dat) -> bool) -> Option<usize> {
        let all = self.dats.iter().enumerate();
        let all: Vec<_> = all
            .filter(|(_, one)| one.is_there && wanted(one))
            .map(|(at, _)| at)
            .collect();
        (!all.is_empty()).then(|| self.random.one_of(&all))
    }

    fn look(&mut self) {
        let Some(dat) = self.some_dat(|_| true) else {
            return;
        };
        let (ty, size) = (
            self.dats[dat].scalar.name(),
            self.sets[self.dats[dat].set].size,
        );
        match self.random.between(0, 3) {
            0 if size > 0 => {
                let low = self.random.between(0, size - 1);
                let high = self.random.between(low, size - 1);
                self.main
                    .line(format!("show_part<{ty}>(\"part\", d{dat}, {low}, {high});"));
            }
            1 => self.main.line(format!("show_file(\"file\", d{dat});")),
            _ => self.show(dat, "look"),
        }
    }

    fn temporary(&mut self) {
        let set = self.random.between(0, self.sets.len() - 1);
        let dat = Dat {
            set,
            scalar: Scalar::random(&mut self.random),
            dim: self.random.between(1, 4),
            is_soa: self.random.chance(50),
            is_kept: false,
            is_temporary: true,
            is_there: true,
        };
        self.declare(dat, "", (0, 1));
        self.par_loop(false);
    }

    fn free_temporary(&mut self) {
        let Some(dat) = self.some_dat(|one| one.is_temporary) else {
            return;
        };
        self.show(dat, "free");
        self.main.line(format!("op_free_dat_temp(d{dat});"));
        self.dats[dat].is_there = false;
    }

    /// What is declared when loops have run.
    fn late(&mut self) {
        let mut set = self.random.between(0, self.sets.len() - 1);
        if self.random.chance(50) {
            let old = set;
            set = self.declare_set(true);
            let (from, to) = if self.random.chance(50) {
                (old, set)
            } else {
                (set, old)
            };
            if self.sets[to].size > 0 || self.sets[from].size == 0 {
                self.declare_map(from, to);
            }
        }
        for _ in 0..self.random.between(1, 2) {
            self.declare_dat(set);
        }
        self.par_loop(false);
    }

    /// A loop with a new kernel or a known one.
    fn par_loop(&mut self, is_in_round: bool) {
        let known = match self.kernels.len() {
            0 => None,
            _ if !self.random.chance(35) => None,
            count => Some(self.random.between(0, count - 1)),
        };
        let again = known.and_then(|at| {
            let parameters = self.kernels[at].parameters.clone();
            let call = Call::of(self, &parameters)?;
            Some((self.kernels[at].name.clone(), call))
        });
        let (name, call) = match again {
            Some(again) => again,
            None => {
                let call = Call::random(self);
                (self.new_kernel(&call.parameters), call)
            }
        };
        self.write(&name, &call, is_in_round);
    }

    fn new_kernel(&mut self, parameters: &[Parameter]) -> String {
        let (shown, body) = kernel(&mut self.random, parameters, &self.constants);
        let name = format!("kernel{}", self.kernels.len());
        let written = match self.random.between(0, 5) {
            0 => {
                let _ = writeln!(
                    self.lambdas,
                    "auto {name} = []({shown}) {};",
                    body.trim_end()
                );
                match self.random.chance(30) {
                    true => format!("+{name}"),
                    false => name,
                }
            }
            kind => {
                let linkage = ["void", "static inline void", "static void"][kind.min(3) - 1];
                let _ = writeln!(self.functions, "{linkage} {name}({shown}) {body}");
                name
            }
        };
        self.kernels.push(Known {
            name: written.clone(),
            parameters: parameters.to_vec(),
        });
        written
    }

    /// Writes a call, and looks at what may have come of it.
    fn write(&mut self, kernel: &str, call: &Call, is_in_round: bool) {
        let label = self.name("loop");
        for (at, bound) in call.bound.iter().enumerate() {
            let Bound::Global(global) = *bound else {
                continue;
            };
            let access = call.parameters[at].access;
            if matches!(access, Access::Min | Access::Max) && self.random.chance(70) {
                let ty = self.globals[global].scalar;
                let start = match access {
                    Access::Max if ty.is_signed() => "-100",
                    Access::Max => "0",
                    _ => "100",
                };
                for k in 0..self.globals[global].dim {
                    self.main.line(format!("g{global}[{k}] = {start};"));
                }
            }
        }
        let flags = call
            .parameters
            .iter()
            .filter(|one| one.flag.is_some())
            .count();
        if flags > 0 {
            let values = (0..flags).map(|_| {
                let k = self.random.between(0, 2);
                match self.random.between(0, 5) {
                    0 => "0".to_string(),
                    1 => "1".to_string(),
                    2..=3 => format!("(round + {k}) % 2"),
                    _ => format!("round != {k}"),
                }
            });
            let values: Vec<_> = values.collect();
            self.main
                .line(format!("int has_{label}[] = {{{}}};", values.join(", ")));
        }
        let mut arguments = Vec::new();
        for at in 0..call.bound.len() {
            let text = call.argument(self, at, &label);
            arguments.push(match self.random.chance(12) {
                true => {
                    self.main.line(format!("op_arg {label}_{at} = {text};"));
                    format!("{label}_{at}")
                }
                false => text,
            });
        }
        let kernel = match self.random.chance(3) && !kernel.starts_with('+') {
            true => {
                self.main
                    .line(format!("auto volatile pointer_{label} = +{kernel};"));
                format!("+pointer_{label}")
            }
            false => kernel.to_string(),
        };
        let set = call.set;
        self.main
            .line(format!("op_par_loop({kernel}, \"{label}\", s{set},"));
        for (at, argument) in arguments.iter().enumerate() {
            let end = if at + 1 == arguments.len() { ");" } else { "," };
            self.main.line(format!("    {argument}{end}"));
        }
        let show_chance = if is_in_round { 15 } else { 30 };
        for (bound, one) in call.bound.iter().zip(&call.parameters) {
            let is_written = one.access != Access::Read || one.what == What::Along;
            if !is_written {
                continue;
            }
            match *bound {
                Bound::Global(global) | Bound::Along(global) => {
                    let dim = self.globals[global].dim;
                    self.main.line(format!(
                        "show_values(\"{label}\", \"g{global}\", g{global}, {dim});"
                    ));
                }
                Bound::Direct(dat) | Bound::Column(dat, ..) | Bound::Row(dat, ..) => {
                    if self.random.chance(show_chance) {
                        self.show(dat, &label);
                    }
                }
                Bound::Number(_) | Bound::Flags => (),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_seed_gives_one_program() {
        assert_eq!(program(7), program(7));
        assert_ne!(program(7), program(8));
    }
}
