//! The calls of OP2's functions that make arguments and declare sets, maps and data.

use super::as_one::AS_ONE;
use crate::ir::{Element, Form, Kind, Scalar, Storage};
use crate::llvm::{Call, Global, Instruction, Opcode, Value};

const fn scalar(bytes: i64, form: Form) -> Scalar {
    Scalar { bytes, form }
}

/// OP2's names of types, C++'s, and what they are.
pub const TYPES: [(&str, &str, Scalar); 7] = [
    ("double", "double", scalar(8, Form::Floating)),
    ("float", "float", scalar(4, Form::Floating)),
    ("int", "int", scalar(4, Form::Signed)),
    ("uint", "unsigned int", scalar(4, Form::Unsigned)),
    ("ll", "long long", scalar(8, Form::Signed)),
    ("ull", "unsigned long long", scalar(8, Form::Unsigned)),
    ("bool", "bool", scalar(1, Form::Unsigned)),
];

/// The name of a type without the storage order.
pub fn storage_free(name: &str) -> &str {
    name.strip_suffix(":soa").unwrap_or(name)
}

/// An OP2 function as it is called.
pub struct Api {
    /// Its name in the manual: `op_arg_gbl` also where `op_arg_gbl<double>` is called.
    pub name: String,
    /// What the template was instantiated with.
    pub template_arguments: Vec<String>,
}

/// The OP2 function that a call calls, if it is one.
pub fn api(call: Call<'_>) -> Option<Api> {
    let name = call.callee_name();
    if name == AS_ONE {
        return Some(Api {
            name: "op_par_loop".to_string(),
            template_arguments: vec![String::new(); call.arguments().len()],
        });
    }
    if name.starts_with("op_") {
        let name = name.strip_suffix("_char").unwrap_or(&name).to_string();
        return Some(Api {
            name,
            template_arguments: Vec::new(),
        });
    }
    if !name.starts_with("_Z") || !name.contains("op_") {
        return None;
    }
    let shown = crate::llvm::demangle(&name);
    let (before, arguments) = shown.split_once('<')?;
    let name = before.rsplit([' ', '*', '&']).next()?;
    name.starts_with("op_").then(|| Api {
        name: name.to_string(),
        template_arguments: template_arguments(arguments),
    })
}

/// Whether nothing but an OP2 program calls such a function. A program's own functions may begin with `op_`,
/// too, and be called `op_init`.
pub fn is_op2(api: &Api) -> bool {
    const OP2_ALONE: [&str; 10] = [
        "op_par_loop",
        "op_decl_set",
        "op_decl_map",
        "op_decl_map_long",
        "op_decl_dat",
        "op_decl_dat_temp",
        "op_arg_dat",
        "op_opt_arg_dat",
        "op_arg_gbl",
        "op_decl_const",
    ];
    OP2_ALONE.contains(&api.name.as_str())
}

/// Whether the run time may end the program in such a call.
pub fn may_end(api: &Api) -> bool {
    okl_abi::op2::MAY_END.contains(&api.name.as_str())
}

/// The texts between the commas up to the `>` that ends the list.
fn template_arguments(text: &str) -> Vec<String> {
    let mut arguments = vec![String::new()];
    let mut depth = 0;
    for letter in text.chars() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' if depth == 0 => break,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        arguments.last_mut().expect("never empty").push(letter);
    }
    arguments.iter().map(|one| one.trim().to_string()).collect()
}

/// What makes an `op_arg`. `None` stands for what is not a literal.
pub enum Made<'m> {
    /// `op_arg_dat`, `op_opt_arg_dat`.
    Dat(Dat<'m>),
    /// `op_arg_gbl`, `op_opt_arg_gbl`.
    Global {
        /// Where they are.
        data: Value<'m>,
        /// How many values there are.
        components: Option<i64>,
        /// The name of their type.
        type_name: Option<String>,
        /// `op_access`.
        access: Option<i32>,
        /// Whether it may be left out.
        optional: bool,
    },
    /// `op_arg_idx`.
    Number {
        /// A column of the map.
        index: Option<i64>,
        /// The map; null for the element's own number.
        map: Value<'m>,
    },
    /// `op_arg_info`.
    Information {
        /// Bytes of it.
        bytes: Option<i64>,
        /// The position of the argument with whose value it goes along.
        winner: Option<usize>,
    },
}

/// Data on a set as an argument.
pub struct Dat<'m> {
    /// The data.
    pub dat: Value<'m>,
    /// A column of the map, or -n for the first n.
    pub index: Option<i64>,
    /// The map; null for none.
    pub map: Value<'m>,
    /// Values for each element.
    pub components: Option<i64>,
    /// The name of their type.
    pub type_name: Option<String>,
    /// `op_access`.
    pub access: Option<i32>,
    /// Whether it may be left out.
    pub optional: bool,
}

/// What a type of OP2's is.
fn scalar_of(type_name: &str) -> Option<Scalar> {
    let name = storage_free(type_name);
    let (.., scalar) = TYPES.into_iter().find(|(own, ..)| *own == name)?;
    Some(scalar)
}

impl<'m> Made<'m> {
    /// What an element of data consists of.
    pub fn element(&self) -> Option<Element> {
        let (type_name, components) = match self {
            Self::Dat(dat) => (dat.type_name.as_deref()?, dat.components?),
            Self::Global {
                components,
                type_name,
                ..
            } => (type_name.as_deref()?, (*components)?),
            Self::Number { .. } | Self::Information { .. } => return None,
        };
        let scalar = scalar_of(type_name)?;
        Some(Element { scalar, components })
    }

    /// Whether it may be left out.
    pub fn is_optional(&self) -> bool {
        match self {
            Self::Dat(dat) => dat.optional,
            Self::Global { optional, .. } => *optional,
            Self::Number { .. } | Self::Information { .. } => false,
        }
    }

    /// What it stands for.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Dat(dat) => Kind::Data(dat.storage()),
            Self::Global { .. } | Self::Information { .. } => Kind::Data(Storage::ByElement),
            Self::Number { .. } => Kind::Number,
        }
    }

    /// The map that leads to it.
    pub fn map(&self) -> Option<Value<'m>> {
        let map = match self {
            Self::Dat(dat) => dat.map,
            Self::Number { map, .. } => *map,
            Self::Global { .. } | Self::Information { .. } => return None,
        };
        (!map.is_null()).then_some(map)
    }

    /// What makes the argument that `user` takes a copy of.
    pub fn of(copied: Value<'m>, user: Call<'m>) -> Result<Self, String> {
        let call = maker(copied, user, true).ok_or("is not made by a call in this function")?;
        let api = api(call).ok_or("is not made by a function of OP2")?;
        // The first operand is where the result goes.
        let operands = call.arguments();
        let name = api.name.as_str();
        let first = if name.starts_with("op_opt_") { 2 } else { 1 };
        let rest = operands.get(first..).unwrap_or_default();
        let number = |at: usize| rest.get(at).and_then(|value| value.as_constant_int());
        let access = |at: usize| i32::try_from(number(at)?).ok();
        let text = |at: usize| rest.get(at).and_then(|value| value.as_text());
        Ok(match (name, rest.len()) {
            ("op_arg_dat" | "op_opt_arg_dat", 6) => Self::Dat(Dat {
                dat: rest[0],
                index: number(1),
                map: rest[2],
                components: number(3),
                type_name: text(4),
                access: access(5),
                optional: first == 2,
            }),
            // With the size of the type, or as a template without it.
            ("op_arg_gbl" | "op_opt_arg_gbl", count @ (4 | 5)) => Self::Global {
                data: rest[0],
                components: number(1),
                type_name: text(2),
                access: access(count - 1),
                optional: first == 2,
            },
            ("op_arg_idx", 2) => Self::Number {
                index: number(0),
                map: rest[1],
            },
            ("op_arg_info", count @ (4 | 5)) => Self::Information {
                bytes: text(2).and_then(|name| number(1)?.checked_mul(scalar_of(&name)?.bytes)),
                winner: number(count - 1).and_then(|at| usize::try_from(at).ok()),
            },
            _ => return Err(format!("is made by {name}, which is not known")),
        })
    }
}

impl Dat<'_> {
    /// How its elements lie in memory: numbers alone can be stored component by component.
    fn storage(&self) -> Storage {
        let name = self.type_name.as_deref();
        let is_number = name.map(|name| TYPES.iter().any(|(own, ..)| *own == storage_free(name)));
        match (is_number, self.components) {
            (Some(false), _) | (_, Some(1)) => Storage::ByElement,
            (Some(true), Some(_)) => Storage::Either {
                by_component: name.is_some_and(|name| name.ends_with(":soa")),
            },
            _ => Storage::Unknown,
        }
    }
}

/// How many elements each element leads to by a map, where that is known.
pub fn arity(map: Value<'_>) -> Option<i64> {
    declaration(map, "op_decl_map")?
        .argument(2)?
        .as_constant_int()
}

/// Whether two values are computed in the same way. Memory may have changed in between: what relies on it is compared
/// again when the program runs.
pub fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    let same_operation = |opcode| {
        let (Some(a), Some(b)) = (a.as_op(opcode), b.as_op(opcode)) else {
            return false;
        };
        let (a, b) = (a.operands(), b.operands());
        a.len() == b.len() && a.iter().zip(&b).all(|(&a, &b)| is_same(a, b))
    };
    a == b || same_operation(Opcode::LLVMLoad) || same_operation(Opcode::LLVMGetElementPtr)
}

/// The call that writes a variable that `user` takes, and nothing else does.
pub fn made_by<'m>(variable: Value<'m>, user: Call<'m>) -> Option<Call<'m>> {
    maker(variable, user, false).filter(|call| api(*call).is_some())
}

/// The one call that writes the variable `copied`, or what is copied into it. `user` only reads it.
fn maker<'m>(copied: Value<'m>, user: Call<'m>, may_be_copy: bool) -> Option<Call<'m>> {
    let variable = copied.as_op(Opcode::LLVMAlloca)?;
    let mut maker = None;
    for one in variable.users() {
        let call = one.as_call()?;
        let name = call.callee_name();
        let operands = call.arguments();
        if call == user || name.starts_with("llvm.lifetime.") || is_copied_from(call, *variable) {
            continue;
        }
        let is_result = operands.first() == Some(&*variable)
            && operands[1..].iter().all(|operand| *operand != *variable);
        if !is_result || maker.replace(call).is_some() {
            // Other loops may take copies, too.
            let by_value =
                (0..operands.len()).all(|at| operands[at] != *variable || call.is_by_value(at));
            if is_result || !by_value {
                return None;
            }
        }
    }
    let call: Call<'m> = maker?;
    if call.callee_name().starts_with("llvm.memcpy.") {
        let source = *call.arguments().get(1)?;
        return may_be_copy.then(|| maker_of_copy(source, user)).flatten();
    }
    Some(call)
}

/// The same for what is copied once: a variable, or what the one caller of the function hands it, which does
/// not change it.
fn maker_of_copy<'m>(source: Value<'m>, user: Call<'m>) -> Option<Call<'m>> {
    let function = user.instruction().function();
    let parameters = function.parameters();
    let Some(position) = parameters.iter().position(|one| *one == source) else {
        return maker(source, user, false);
    };
    let [caller] = function.users()[..] else {
        return None;
    };
    let only_reads = |call: Call<'m>| {
        let operands = call.arguments();
        is_copied_from(call, source)
            || (0..operands.len()).all(|at| operands[at] != source || call.is_by_value(at))
    };
    let users = source.users();
    let is_constant = users
        .iter()
        .all(|one| one.as_call().is_some_and(only_reads));
    let caller = caller.as_call()?;
    let handed = caller.argument(position)?;
    let is_only_caller = function.is_local() && caller.callee_function() == Some(function);
    (is_only_caller && is_constant).then_some(())?;
    maker(handed, caller, false)
}

/// Where the user wrote a call of `op_par_loop`: its own place, or where its only caller is called that hands
/// a lambda on.
pub fn written_at(call: Call<'_>) -> Instruction<'_> {
    let function = call.instruction().function();
    let is_forwarded = crate::llvm::demangle(&function.name()).contains("op_par_loop<");
    match function.users()[..] {
        [caller] if is_forwarded => caller.as_instruction().unwrap_or(call.instruction()),
        _ => call.instruction(),
    }
}

/// The function that a kernel is: also where a lambda becomes one.
pub fn kernel(value: Value<'_>) -> Value<'_> {
    let value = value.through_alias();
    let conversion = value.as_call().and_then(Call::callee_function);
    let Some(conversion) = conversion else {
        return value;
    };
    let returned: Vec<_> = conversion
        .instructions()
        .into_iter()
        .filter(|one| one.opcode() == Opcode::LLVMRet)
        .flat_map(|one| one.operands())
        .collect();
    match returned[..] {
        [one] => one.through_alias(),
        _ => value,
    }
}

fn is_copied_from(call: Call<'_>, variable: Value<'_>) -> bool {
    let operands = call.arguments();
    call.callee_name().starts_with("llvm.memcpy.")
        && operands.get(1) == Some(&variable)
        && operands[0] != variable
}

/// The call of `name` whose result `value` is, or is loaded from a variable that holds nothing else.
pub fn declaration<'m>(value: Value<'m>, name: &str) -> Option<Call<'m>> {
    let call = match value.as_call() {
        Some(call) => call,
        None => only_stored(value.as_op(Opcode::LLVMLoad)?.operand(0))?.as_call()?,
    };
    (api(call)?.name == name).then_some(call)
}

/// The one value that is stored to a variable, of a function or a file, which is only loaded otherwise.
fn only_stored<'m>(variable: Value<'m>) -> Option<Value<'m>> {
    let is_of_file = |one: Global<'m>| {
        let initial = one.initializer();
        one.is_local() && initial.is_some_and(|initial| initial.is_null())
    };
    if !variable.as_global().is_some_and(is_of_file) {
        variable.as_op(Opcode::LLVMAlloca)?;
    }
    let mut stored = None;
    for user in variable.users() {
        let user: Instruction<'m> = user.as_instruction()?;
        match user.opcode() {
            Opcode::LLVMLoad => {}
            Opcode::LLVMStore if user.operand(0) != variable => {
                if stored.replace(user.operand(0)).is_some() {
                    return None;
                }
            }
            Opcode::LLVMCall => {
                let call = (*user).as_call()?;
                if !call.callee_name().starts_with("llvm.") {
                    return None;
                }
            }
            _ => return None,
        }
    }
    stored
}
