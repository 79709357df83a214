//! The user's plug-ins: `runtime-shims/okl/include/okl_plugin.h` is what they are told. Here is that in Rust.
//!
//! Guarantee: a library that is not there, is of another version or is linked to another LLVM is an error, and nothing of it
//! runs; what one states of values that are not of the module, or are not there where they are used, is refused.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::{
    LLVMDeleteInstruction, LLVMGetBasicBlockParent, LLVMGetFirstBasicBlock, LLVMGetFirstFunction,
    LLVMGetFirstInstruction, LLVMGetGlobalParent, LLVMGetInstructionParent, LLVMGetNextBasicBlock,
    LLVMGetNextFunction, LLVMGetNextInstruction, LLVMGetTypeContext, LLVMGetTypeKind,
    LLVMGetVersion, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};

use super::{Call, Function, Instruction, Module, Value};
use crate::options::wrong_name;

/// What the names of a library's entries say: the versions of all below. It has one of them, or both.
const ENTRY: &CStr = c"okl_plugin_entry_v1";
const TARGET_ENTRY: &CStr = c"okl_plugin_target_entry_v1";
/// The version of LLVM that this is written for.
const LLVM: c_uint = 22;

/// `okl_parallel_for_v1`.
#[repr(C)]
struct RawLoop {
    call: LLVMValueRef,
    count: LLVMValueRef,
    body: LLVMValueRef,
    data: LLVMValueRef,
}

type Tells = unsafe extern "C" fn(*const Host, LLVMValueRef, *const c_char);

/// `okl_v1`.
#[repr(C)]
struct Host {
    state: *mut c_void,
    parallel_for: unsafe extern "C" fn(*const Host, *const RawLoop) -> c_int,
    error: Tells,
    remark: Tells,
}

/// `okl_plugin_v1`.
#[repr(C)]
struct Description {
    size: c_uint,
    llvm: c_uint,
    name: *const c_char,
    recognise: Option<unsafe extern "C" fn(*const Host, LLVMModuleRef) -> c_int>,
}

/// `okl_target_loop_v1`.
#[repr(C)]
struct RawHanded {
    before: LLVMValueRef,
    count: LLVMValueRef,
    body: LLVMValueRef,
    data: LLVMValueRef,
}

/// `okl_plugin_target_v1`.
#[repr(C)]
struct TargetDescription {
    size: c_uint,
    llvm: c_uint,
    name: *const c_char,
    parallel_for: Option<unsafe extern "C" fn(*const RawHanded) -> *const c_char>,
}

/// A loop that a target is handed.
#[derive(Clone, Copy)]
pub struct Handed<'m> {
    /// In front of it stands what runs the loop.
    pub before: Instruction<'m>,
    /// How many iterations there are: of 64 bits.
    pub count: Value<'m>,
    /// What runs those from one number up to another one.
    pub body: Function<'m>,
    /// What that gets.
    pub data: Value<'m>,
}

unsafe extern "C" {
    fn okl_watch(value: LLVMValueRef) -> *mut c_void;
    fn okl_watched(watch: *mut c_void) -> LLVMValueRef;
    fn okl_unwatch(watch: *mut c_void);
}

/// A function or an instruction that a plug-in may erase, or take out of the module.
pub struct Watched<'m> {
    watch: *mut c_void,
    module: &'m Module,
}

impl<'m> Watched<'m> {
    /// Watches one of a module.
    pub fn of(module: &'m Module, value: Value<'m>) -> Self {
        // SAFETY: a live value.
        let watch = unsafe { okl_watch(value.raw()) };
        Self { watch, module }
    }

    /// Whether it is in the module.
    pub fn is_there(&self) -> bool {
        // SAFETY: of a live value it is asked where it stands.
        unsafe {
            let value = okl_watched(self.watch);
            let function = match Self::is_apart(value) {
                None => value,
                Some(true) => return false,
                Some(false) => LLVMGetBasicBlockParent(LLVMGetInstructionParent(value)),
            };
            !function.is_null() && LLVMGetGlobalParent(function) == self.module.raw()
        }
    }

    /// Erases an instruction without a result that is in no block any more: what it uses would be used there.
    pub fn erase_if_apart(&self) {
        // SAFETY: a live value, which nothing else erases.
        unsafe {
            let value = okl_watched(self.watch);
            if Self::is_apart(value) == Some(true) {
                LLVMDeleteInstruction(value);
            }
        }
    }

    /// Of an instruction whether it is in no block.
    ///
    /// # Safety
    /// It is null or a live value.
    unsafe fn is_apart(value: LLVMValueRef) -> Option<bool> {
        // SAFETY: the caller's promise.
        unsafe {
            let instruction = (!value.is_null()).then(|| Value::new(value).as_instruction())?;
            instruction.map(|one| LLVMGetInstructionParent(one.raw()).is_null())
        }
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `okl_watch`, and not used any more.
        unsafe { okl_unwatch(self.watch) }
    }
}

/// A target of a plug-in's, which stays.
#[derive(Clone)]
pub struct UserTarget {
    /// What the user calls it.
    pub name: String,
    parallel_for: unsafe extern "C" fn(*const RawHanded) -> *const c_char,
}

/// Those of all plug-ins that are loaded.
static TARGETS: Mutex<Vec<UserTarget>> = Mutex::new(Vec::new());

/// The targets of the plug-ins that are loaded.
pub fn user_targets() -> Vec<UserTarget> {
    TARGETS.lock().expect("no panic while it is locked").clone()
}

impl UserTarget {
    /// Has it run a loop: what it builds stands in the module then. An error is why it does not take the loop. What it was handed
    /// may be gone.
    pub fn parallel_for(&self, one: Handed<'_>) -> Result<(), String> {
        let raw = RawHanded {
            before: one.before.raw(),
            count: one.count.raw(),
            body: one.body.raw(),
            data: one.data.raw(),
        };
        // SAFETY: a function of that type; what it gets lives through the call, and what it returns is null or a text.
        unsafe {
            let why = (self.parallel_for)(&raw);
            match why.is_null() {
                true => Ok(()),
                false => Err(match CStr::from_ptr(why).to_string_lossy() {
                    none if none.is_empty() => "it does not say why".to_owned(),
                    why => why.into_owned(),
                }),
            }
        }
    }

    /// Of a library that has one.
    ///
    /// # Safety
    /// `library` is open, and what it has by the name of the entry is a function of that type, whose result stays.
    unsafe fn of(library: *mut c_void) -> Result<Option<Self>, String> {
        // SAFETY: the caller's promise.
        unsafe {
            let entry = libc::dlsym(library, TARGET_ENTRY.as_ptr());
            if entry.is_null() {
                return Ok(None);
            }
            let entry: extern "C" fn() -> *const TargetDescription = std::mem::transmute(entry);
            let Some(description) = entry().as_ref() else {
                return Err("it does not say what its target is".to_owned());
            };
            if (description.size as usize) < size_of::<TargetDescription>() {
                return Err("what it says of its target is too short".to_owned());
            }
            is_for_this_llvm(description.llvm)?;
            let (Some(parallel_for), false) =
                (description.parallel_for, description.name.is_null())
            else {
                return Err("its target has no name, or no function".to_owned());
            };
            let name = CStr::from_ptr(description.name).to_string_lossy();
            match wrong_name(&name) {
                Some(why) => Err(why),
                None => Ok(Some(Self {
                    name: name.into_owned(),
                    parallel_for,
                })),
            }
        }
    }

    /// Has the user be able to name it.
    fn register(self) -> Result<(), String> {
        let mut all = TARGETS.lock().expect("no panic while it is locked");
        match all.iter().find(|one| one.name == self.name) {
            None => {
                all.push(self);
                Ok(())
            }
            // Of another module of this process.
            Some(known) if known.parallel_for as usize == self.parallel_for as usize => Ok(()),
            Some(_) => Err(format!(
                "its target is called '{}', as that of another plug-in",
                self.name
            )),
        }
    }
}

fn is_for_this_llvm(its: c_uint) -> Result<(), String> {
    match its {
        LLVM => Ok(()),
        _ => Err(format!(
            "it was compiled for LLVM {its}, and this is LLVM {LLVM}"
        )),
    }
}

/// A call that runs `body` for each number below `count`, as a plug-in states.
#[derive(Clone, Copy)]
pub struct Stated<'m> {
    /// The call.
    pub call: Call<'m>,
    /// How often.
    pub count: Value<'m>,
    /// What runs.
    pub body: Function<'m>,
    /// What it gets.
    pub data: Value<'m>,
}

/// What okl does with what a plug-in says of a module.
pub trait Heard<'m> {
    /// Whether a loop has been stated at this call.
    fn is_stated(&self, call: Call<'m>) -> bool;
    /// A loop; an error is why it is none to okl.
    fn parallel_for(&mut self, stated: Stated<'m>) -> Result<(), String>;
    /// A remark or an error at an instruction.
    fn told(&mut self, at: Option<Instruction<'m>>, text: &str, is_error: bool);
}

/// A plug-in that is loaded, and stays.
pub struct UserPlugin {
    /// Where it recognises loops.
    description: Option<&'static Description>,
    /// What it calls itself.
    pub name: String,
}

/// What one is told about a module, behind `state`.
struct State<'a, 'm> {
    module: &'m Module,
    heard: &'a mut dyn Heard<'m>,
}

impl UserPlugin {
    /// Loads one.
    pub fn open(file: &str) -> Result<Self, String> {
        let name = CString::new(file).map_err(|_| "its name has a NUL".to_owned())?;
        // SAFETY: the user asks for the library, whose initialisation runs; what it has by the name of the entry is a function
        // of that type, and what that returns stays.
        unsafe {
            let library = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            if library.is_null() {
                let why = CStr::from_ptr(libc::dlerror()).to_string_lossy();
                return Err(format!("it cannot be loaded: {why}"));
            }
            let own = LLVMGetVersion as *mut c_void;
            let its = libc::dlsym(library, c"LLVMGetVersion".as_ptr());
            if !its.is_null() && its != own {
                return Err("it is linked to an LLVM of its own; leave that out".to_owned());
            }
            let target = UserTarget::of(library)?;
            let entry = libc::dlsym(library, ENTRY.as_ptr());
            if entry.is_null() {
                let Some(target) = target else {
                    return Err(format!(
                        "it is no plug-in of this version of okl: it has no {}, as OKL_PLUGIN of okl_plugin.h makes it, and no {}, as OKL_PLUGIN_TARGET does",
                        ENTRY.to_string_lossy(),
                        TARGET_ENTRY.to_string_lossy()
                    ));
                };
                let name = target.name.clone();
                target.register()?;
                return Ok(Self {
                    description: None,
                    name,
                });
            }
            let entry: extern "C" fn() -> *const Description = std::mem::transmute(entry);
            let Some(description) = entry().as_ref() else {
                return Err("it does not say what it is".to_owned());
            };
            if (description.size as usize) < size_of::<Description>() {
                return Err("what it says of itself is too short".to_owned());
            }
            is_for_this_llvm(description.llvm)?;
            let name = match description.name.is_null() {
                true => file.to_owned(),
                false => CStr::from_ptr(description.name)
                    .to_string_lossy()
                    .into_owned(),
            };
            if let Some(target) = target {
                target.register()?;
            }
            Ok(Self {
                description: Some(description),
                name,
            })
        }
    }

    /// Has it work on a module. An error is the number that it returns.
    pub fn recognise<'m>(
        &self,
        module: &'m Module,
        heard: &mut dyn Heard<'m>,
    ) -> Result<(), c_int> {
        let Some(recognise) = self.description.and_then(|one| one.recognise) else {
            return Ok(());
        };
        let mut state = State { module, heard };
        let host = Host {
            state: (&raw mut state).cast(),
            parallel_for,
            error: tell_error,
            remark: tell_remark,
        };
        // SAFETY: a function of that type; what it gets lives through the call.
        match unsafe { recognise(&host, module.raw()) } {
            0 => Ok(()),
            number => Err(number),
        }
    }
}

/// Runs something for a plug-in, which no panic may come to.
///
/// # Safety
/// `host` is what [`UserPlugin::recognise`] has given it.
unsafe fn heard(host: *const Host, work: impl FnOnce(&mut State<'_, '_>) -> c_int) -> c_int {
    // SAFETY: the caller's promise; plug-ins have one thread work on a module.
    let state = unsafe { &mut *(*host).state.cast::<State<'_, '_>>() };
    catch_unwind(AssertUnwindSafe(|| work(state))).unwrap_or(1)
}

/// Whether a value is an instruction of a module. It may be one that is gone, and is not looked at before it is found.
fn is_instruction_of(one: LLVMValueRef, module: &Module) -> bool {
    // SAFETY: a live module, whose functions, blocks and instructions are gone through.
    unsafe {
        let mut function = LLVMGetFirstFunction(module.raw());
        while !function.is_null() {
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let mut at = LLVMGetFirstInstruction(block);
                while !at.is_null() {
                    if at == one {
                        return true;
                    }
                    at = LLVMGetNextInstruction(at);
                }
                block = LLVMGetNextBasicBlock(block);
            }
            function = LLVMGetNextFunction(function);
        }
    }
    false
}

/// Whether a value can be there where a call is: a constant, or of the same function.
fn is_there<'m>(one: Value<'m>, call: Call<'m>) -> bool {
    let caller = call.instruction().function();
    match (one.as_instruction(), one.as_parameter()) {
        (Some(at), _) => at.function() == caller,
        (None, Some((function, _))) => function == caller,
        (None, None) => one.is_constant(),
    }
}

/// What `parallel_for` of `okl_v1` does.
unsafe extern "C" fn parallel_for(host: *const Host, stated: *const RawLoop) -> c_int {
    // SAFETY: as okl_plugin.h has it.
    unsafe {
        heard(host, |state| {
            let Some(raw) = stated.as_ref() else {
                return refuse(state, None, "states a loop without saying which");
            };
            let is_call = is_instruction_of(raw.call, state.module)
                && Value::new(raw.call).as_call().is_some();
            if !is_call {
                return refuse(
                    state,
                    None,
                    "states a loop at what is no call of the module",
                );
            }
            let call = Value::new(raw.call).as_call().expect("it is a call");
            let at = Some(call.instruction());
            if state.heard.is_stated(call) {
                return refuse(state, at, "states a loop twice");
            }
            if [raw.count, raw.body, raw.data].contains(&std::ptr::null_mut()) {
                return refuse(
                    state,
                    at,
                    "states a loop, and leaves out what it is made of",
                );
            }
            let is_pointer =
                |one| LLVMGetTypeKind(LLVMTypeOf(one)) == LLVMTypeKind::LLVMPointerTypeKind;
            let is_of_context =
                |one| LLVMGetTypeContext(LLVMTypeOf(one)) == state.module.raw_context();
            if ![raw.count, raw.body, raw.data]
                .into_iter()
                .all(is_of_context)
            {
                return refuse(
                    state,
                    at,
                    "states a loop by what is of another LLVM context",
                );
            }
            let [count, body, data] = [raw.count, raw.body, raw.data].map(|one| Value::new(one));
            for (what, one) in [("count", count), ("data", data)] {
                if !is_there(one, call) {
                    let told = format!("states a loop whose {what} is not known at the call");
                    return refuse(state, at, &told);
                }
            }
            let Some(body) = body.through_alias().as_function() else {
                let why = "what it runs is no function that the compiler knows";
                state.heard.told(at, why, false);
                return 1;
            };
            if LLVMGetGlobalParent(body.raw()) != state.module.raw() || !is_pointer(raw.data) {
                return refuse(
                    state,
                    at,
                    "states a loop, and what it is made of is not right",
                );
            }
            let stated = Stated {
                call,
                count,
                body,
                data,
            };
            match state.heard.parallel_for(stated) {
                Ok(()) => 0,
                Err(why) => {
                    state.heard.told(at, &why, false);
                    1
                }
            }
        })
    }
}

/// What a plug-in does wrongly is an error.
fn refuse<'m>(state: &mut State<'_, 'm>, at: Option<Instruction<'m>>, what: &str) -> c_int {
    let told = format!("the plug-in {what}: see okl_plugin.h");
    state.heard.told(at, &told, true);
    1
}

/// What `error` of `okl_v1` does.
unsafe extern "C" fn tell_error(host: *const Host, at: LLVMValueRef, text: *const c_char) {
    // SAFETY: as okl_plugin.h has it.
    unsafe { tell(host, at, text, true) };
}

/// What `remark` of `okl_v1` does.
unsafe extern "C" fn tell_remark(host: *const Host, at: LLVMValueRef, text: *const c_char) {
    // SAFETY: as okl_plugin.h has it.
    unsafe { tell(host, at, text, false) };
}

/// # Safety
/// As plug-ins call it.
unsafe fn tell(host: *const Host, at: LLVMValueRef, text: *const c_char, is_error: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        heard(host, |state| {
            let text = match text.is_null() {
                true => "something is wrong".into(),
                false => CStr::from_ptr(text).to_string_lossy(),
            };
            let is_there = is_instruction_of(at, state.module);
            let at = is_there.then(|| Value::new(at).as_instruction()).flatten();
            state.heard.told(at, &text, is_error);
            0
        });
    }
}
