//! The arguments of parallel loops: what makes them, and whether a loop can take them.

use std::ffi::{c_char, c_int};

use okl_abi::op2::{ACCESSES, access};

use crate::{
    layout::{Arg, Dat, Map, Set, argtype},
    report::{fatal, text},
    settings, waiting,
};

impl Arg {
    fn new(argtype: i32, acc: i32) -> Self {
        Self {
            index: -1,
            dat: std::ptr::null_mut(),
            map: std::ptr::null_mut(),
            dim: 0,
            idx: -1,
            size: 0,
            data: std::ptr::null_mut(),
            data_d: std::ptr::null_mut(),
            map_data: std::ptr::null_mut(),
            map_data_d: std::ptr::null_mut(),
            type_name: std::ptr::null(),
            acc,
            argtype,
            sent: 0,
            opt: 1,
        }
    }

    /// Whether a map leads to it.
    pub(crate) fn is_indirect(&self) -> bool {
        self.argtype == argtype::DAT && self.opt != 0 && !self.map.is_null()
    }

    /// What is wrong with it in a loop over `set`, if anything.
    ///
    /// # Safety
    /// It was made by a function of this module from what is declared.
    pub(crate) unsafe fn mistake(&self, set: *const Set) -> Option<String> {
        if self.opt == 0 {
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe {
            match self.argtype {
                argtype::DAT => self.mistake_in_dat(set),
                argtype::GBL => self.mistake_in_gbl(),
                argtype::IDX => self.mistake_in_map(set),
                argtype::INFO => None,
                other => Some(format!("there is no kind {other} of arguments")),
            }
        }
    }

    /// # Safety
    /// See [`Arg::mistake`].
    unsafe fn mistake_in_dat(&self, set: *const Set) -> Option<String> {
        // SAFETY: the caller's promise: pointers are null or to what is declared.
        unsafe {
            let Some(dat) = self.dat.as_ref() else {
                return Some("the dat is missing".to_owned());
            };
            let name = text(dat.name);
            if !matches!(
                self.acc,
                access::READ | access::WRITE | access::RW | access::INC
            ) {
                let acc = usize::try_from(self.acc).ok();
                let acc = acc.and_then(|acc| ACCESSES.get(acc));
                let acc = acc.copied().unwrap_or("of an unknown access");
                return Some(format!("{name} is data on a set, which cannot be {acc}"));
            }
            if self.dim != dat.dim {
                let plural = if dat.dim == 1 { "" } else { "s" };
                return Some(format!(
                    "{name} has {} component{plural}, not {}",
                    dat.dim, self.dim
                ));
            }
            let (here, declared) = (text(self.type_name), text(dat.type_name));
            if !same_type(here, declared) {
                return Some(format!("{name} is of type \"{declared}\", not \"{here}\""));
            }
            if let Some(mistake) = self.mistake_in_map(set) {
                return Some(format!("{name}: {mistake}"));
            }
            let reached = match self.map.as_ref() {
                None => set,
                Some(map) => map.to,
            };
            if !std::ptr::eq(reached, dat.set) {
                let (is, reached) = (text((*dat.set).name), text((*reached).name));
                let way = match self.map.as_ref() {
                    None => "without a map the argument is on".to_owned(),
                    Some(map) => format!("map {} leads to", text(map.name)),
                };
                return Some(format!("{name} is on {is}, but {way} {reached}"));
            }
            None
        }
    }

    fn mistake_in_gbl(&self) -> Option<String> {
        if self.data.is_null() {
            return Some("the global variable is missing".to_owned());
        }
        let is_known = (access::READ..=access::WORK).contains(&self.acc);
        (!is_known).then(|| format!("there is no access {}", self.acc))
    }

    /// # Safety
    /// See [`Arg::mistake`].
    unsafe fn mistake_in_map(&self, set: *const Set) -> Option<String> {
        // SAFETY: the caller's promise.
        unsafe {
            let Some(map) = self.map.as_ref() else {
                let is_direct = self.idx == -1;
                return (!is_direct).then(|| format!("index {} without a map", self.idx));
            };
            let name = text(map.name);
            if !std::ptr::eq(map.from, set) {
                let (from, here) = (text((*map.from).name), text((*set).name));
                return Some(format!(
                    "map {name} starts at {from}, but the loop is over {here}"
                ));
            }
            let is_vector = self.argtype == argtype::DAT && (-map.dim..-1).contains(&self.idx);
            let is_column = (0..map.dim).contains(&self.idx);
            (!is_vector && !is_column).then(|| {
                format!(
                    "map {name} has the indices 0 to {}, not {}",
                    map.dim - 1,
                    self.idx
                )
            })
        }
    }
}

/// Whether two names of types mean the same: the storage order makes no difference.
pub(crate) fn same_type(one: &str, other: &str) -> bool {
    let bare = |name: &'_ str| name.strip_suffix(":soa").unwrap_or(name).to_owned();
    bare(one) == bare(other)
}

/// See [`same_type`].
///
/// # Safety
/// Both are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_type_equivalence(one: *const c_char, other: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    unsafe { same_type(text(one), text(other)) }
}

/// Data on a set; `idx` is a column of the map, or -n for its first n.
///
/// # Safety
/// What is not null is declared; `type_name` is a string that stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_arg_dat(
    dat: *mut Dat,
    idx: c_int,
    map: *mut Map,
    dim: c_int,
    type_name: *const c_char,
    acc: c_int,
) -> Arg {
    // SAFETY: the caller's promise.
    unsafe { op_opt_arg_dat(1, dat, idx, map, dim, type_name, acc) }
}

/// The same; where `opt` is 0 the loop does not use it.
///
/// # Safety
/// See [`op_arg_dat`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_opt_arg_dat(
    opt: c_int,
    dat: *mut Dat,
    idx: c_int,
    map: *mut Map,
    dim: c_int,
    type_name: *const c_char,
    acc: c_int,
) -> Arg {
    // SAFETY: the caller's promise.
    let (declared, numbers) = unsafe { (dat.as_ref(), map.as_ref().map(|map| map.map)) };
    Arg {
        dat,
        map,
        dim,
        idx,
        size: declared.map_or(-1, |dat| dat.size),
        data: declared.map_or(std::ptr::null_mut(), |dat| dat.data),
        map_data: numbers.unwrap_or(std::ptr::null_mut()),
        type_name,
        opt: i32::from(opt != 0),
        ..Arg::new(argtype::DAT, acc)
    }
}

/// A global variable of `dim` values of `size` bytes.
///
/// # Safety
/// `data` is null or has as many; `type_name` is a string that stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_arg_gbl_char(
    data: *mut c_char,
    dim: c_int,
    type_name: *const c_char,
    size: c_int,
    acc: c_int,
) -> Arg {
    // SAFETY: the caller's promise.
    unsafe { op_opt_arg_gbl_char(1, data, dim, type_name, size, acc) }
}

/// The same; where `opt` is 0 the loop does not use it.
///
/// # Safety
/// See [`op_arg_gbl_char`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_opt_arg_gbl_char(
    opt: c_int,
    data: *mut c_char,
    dim: c_int,
    type_name: *const c_char,
    size: c_int,
    acc: c_int,
) -> Arg {
    Arg {
        dim,
        size: dim * size,
        data,
        type_name,
        opt: i32::from(opt != 0),
        ..Arg::new(argtype::GBL, acc)
    }
}

/// The number of the element; with a map, of the one that its column `idx` points to.
///
/// # Safety
/// `map` is null or declared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_arg_idx(idx: c_int, map: *mut Map) -> Arg {
    // SAFETY: the caller's promise.
    let numbers = unsafe { map.as_ref().map(|map| map.map) };
    Arg {
        map,
        dim: 1,
        idx,
        size: size_of::<i32>() as i32,
        map_data: numbers.unwrap_or(std::ptr::null_mut()),
        type_name: c"int".as_ptr(),
        ..Arg::new(argtype::IDX, access::READ)
    }
}

/// What belongs to the value that wins argument `position`, an OP_MIN or OP_MAX.
///
/// # Safety
/// `data` has `dim` values of `size` bytes; `type_name` is a string that stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_arg_info_char(
    data: *mut c_char,
    dim: c_int,
    type_name: *const c_char,
    size: c_int,
    position: c_int,
) -> Arg {
    Arg {
        dim,
        size: dim * size,
        data,
        type_name,
        ..Arg::new(argtype::INFO, position)
    }
}

/// Ends the program if one of a loop's arguments is wrong.
///
/// # Safety
/// All were made by the functions above.
pub(crate) unsafe fn require_right(name: &str, set: *const Set, arguments: &[Arg]) {
    if set.is_null() {
        fatal(&format!("op_par_loop {name}: the set is missing"));
    }
    // SAFETY: the caller's promise.
    if let Some((position, mistake)) = unsafe { mistake_of_any(set, arguments) } {
        fatal(&format!("op_par_loop {name}: arg{position}: {mistake}"))
    }
}

/// The first argument that is wrong in a loop over a set, and what is.
///
/// # Safety
/// As for [`require_right`]; the set is declared.
pub(crate) unsafe fn mistake_of_any(set: *const Set, arguments: &[Arg]) -> Option<(usize, String)> {
    arguments
        .iter()
        .enumerate()
        .find_map(|(position, argument)| {
            // SAFETY: the caller's promise.
            if let Some(mistake) = unsafe { argument.mistake(set) } {
                return Some((position, mistake));
            }
            let winner = usize::try_from(argument.acc).ok();
            let winner = winner.and_then(|winner| arguments.get(winner));
            let is_winner = winner.is_some_and(|winner| {
                winner.argtype == argtype::GBL && matches!(winner.acc, access::MIN | access::MAX)
            });
            let is_wrong = argument.argtype == argtype::INFO && !is_winner;
            is_wrong.then(|| {
                let mistake = format!(
                    "op_arg_info belongs to arg{}, which is no OP_MIN or OP_MAX",
                    argument.acc
                );
                (position, mistake)
            })
        })
}

/// What programs compiled against OP2's own header call for each argument: counts indirect ones.
///
/// # Safety
/// As for [`require_right`]; `indirect` is a counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_arg_check(
    set: *const Set,
    position: c_int,
    argument: Arg,
    indirect: *mut c_int,
    name: *const c_char,
) {
    // SAFETY: the caller's promises.
    unsafe {
        if let Some(mistake) = argument.mistake(set) {
            let name = text(name);
            fatal(&format!("op_par_loop {name}: arg{position}: {mistake}"));
        }
        *indirect += c_int::from(argument.is_indirect());
    }
}

/// A constant that kernels use. Nothing is to be done for it where they run on the host.
///
/// # Safety
/// The last two are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_decl_const_char(
    dim: c_int,
    type_name: *const c_char,
    size: c_int,
    _data: *mut c_char,
    name: *const c_char,
) {
    waiting::run_for("op_decl_const");
    settings::require_start("op_decl_const");
    if dim < 1 || size < 1 {
        // SAFETY: the caller's promise.
        let (type_name, name) = unsafe { (text(type_name), text(name)) };
        fatal(&format!(
            "op_decl_const {name}: {dim} values of type \"{type_name}\""
        ));
    }
}
