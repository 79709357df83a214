//! What LLVM calls: the plugin's description and the entry of each pass.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::panic::{self, AssertUnwindSafe};

use inkwell::llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};

use super::shim::{Text, TextSink, collect_text, okl_register};
use super::{Function, Module, Severity, VectorUnit};
use crate::pipeline::STAGES;

/// `llvm::PassPluginLibraryInfo` of LLVM 22.
#[repr(C)]
pub struct PluginInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: unsafe extern "C" fn(*mut c_void),
    pre_codegen: *const c_void,
}

/// The description LLVM asks a plugin for.
pub fn plugin_info() -> PluginInfo {
    PluginInfo {
        api_version: 2,
        name: c"okl".as_ptr(),
        version: c"0.1".as_ptr(),
        register: okl_register,
        pre_codegen: std::ptr::null(),
    }
}

unsafe extern "C" {
    fn okl_jit_option() -> bool;
    fn okl_libdevice_option(write: TextSink, to: *mut c_void);
    fn okl_keep_option(write: TextSink, to: *mut c_void);
    fn okl_plugin_option(write: TextSink, to: *mut c_void);
}

/// What the compiler's option `-okl-libdevice` says; nothing without it.
pub fn libdevice_option() -> String {
    // SAFETY: the shim writes a live text.
    collect_text(|write, to| unsafe { okl_libdevice_option(write, to) })
}

/// What the compiler's option `-okl-keep` says; none without it.
pub fn keep_option() -> Option<String> {
    // SAFETY: the shim writes a live text.
    let said = collect_text(|write, to| unsafe { okl_keep_option(write, to) });
    (!said.is_empty()).then_some(said)
}

/// The files that the compiler's options `-okl-plugin` name.
pub fn plugin_option() -> Vec<String> {
    // SAFETY: the shim writes live texts.
    let said = collect_text(|write, to| unsafe { okl_plugin_option(write, to) });
    said.lines().map(str::to_owned).collect()
}

/// Whether the compiler's option `-okl-jit` is said.
pub fn jit_option() -> bool {
    // SAFETY: the shim only reads the option.
    unsafe { okl_jit_option() }
}

/// Where LLVM's pipeline runs a stage.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// On what the compiler made of the source, before anything else, and on merged modules.
    Start,
    /// On single functions, wherever LLVM simplifies them.
    Peephole,
    /// When functions are simplified and inlined, before loops are vectorised; not without optimisation.
    BeforeVectorising,
    /// After all else.
    End,
    /// Nowhere: from `opt`, by its name.
    ByName,
}

/// What a stage is run on.
pub struct Run<'m> {
    /// The module.
    pub module: &'m Module,
    /// The function, of a stage at [`Point::Peephole`].
    pub function: Option<Function<'m>>,
    /// What stands in angle brackets behind the stage's name.
    pub parameters: String,
    /// `-mllvm -okl-target=...`.
    pub target: String,
    /// `-mllvm -okl-strict`.
    pub is_strict: bool,
    /// `-mllvm -okl-fuse`.
    pub fuses: bool,
    /// What is known of the processor that code is made for; null where `function` is not.
    analyses: *mut c_void,
}

impl Run<'_> {
    /// The processor's vectors.
    pub fn vector_unit(&self) -> VectorUnit<'_> {
        assert!(self.function.is_none(), "a stage on modules");
        // SAFETY: the analyses of the pass over the module.
        unsafe { VectorUnit::new(self.analyses) }
    }
}

/// `OklStage` of `cxx/shim.h`.
#[repr(C)]
struct StageInfo {
    name: Text,
    point: Point,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn okl_stage(number: usize, info: *mut StageInfo) -> bool {
    let Some(stage) = STAGES.get(number) else {
        return false;
    };
    let found = StageInfo {
        name: Text::new(stage.name),
        point: stage.point,
    };
    // SAFETY: the shim passes a place for it.
    unsafe { info.write(found) };
    true
}

#[unsafe(no_mangle)]
unsafe extern "C" fn okl_run_stage(
    number: usize,
    module: LLVMModuleRef,
    function: LLVMValueRef,
    parameters: Text,
    target: Text,
    is_strict: bool,
    fuses: bool,
    analyses: *mut c_void,
) -> bool {
    // SAFETY: the shim passes a live module, null or a function of it, and live texts.
    let (module, function, parameters, target) = unsafe {
        (
            Module::new(module),
            Function::from_nullable(function),
            parameters.to_string(),
            target.to_string(),
        )
    };
    let stage = &STAGES[number];
    let run = Run {
        module: &module,
        function,
        parameters,
        target,
        is_strict,
        fuses,
        analyses,
    };
    match stage.point {
        // To check the whole module after each function would take too long.
        Point::Peephole => caught(|| (stage.run)(&run)).unwrap_or_else(|failure| {
            module.diagnose(None, None, &failure, Severity::Error);
            true
        }),
        Point::Start | Point::BeforeVectorising | Point::End | Point::ByName => {
            guarded(&module, || (stage.run)(&run))
        }
    }
}

thread_local! {
    static PANIC_PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs a pass. A panic becomes a compiler error, and a module that no longer verifies is emptied:
/// the pass pipeline goes on after an error, and must not meet half-written functions.
fn guarded(module: &Module, pass: impl FnOnce() -> bool) -> bool {
    let failure = match caught(pass) {
        Ok(false) => return false,
        Ok(true) => match module.verify() {
            Ok(()) => return true,
            Err(text) => format!("okl: internal error: the module is broken: {text}"),
        },
        Err(failure) => failure,
    };
    module.diagnose(None, None, &failure, Severity::Error);
    if module.verify().is_err() {
        module.delete_bodies();
    }
    true
}

/// Runs a pass. What a panic says, where there is one.
fn caught(pass: impl FnOnce() -> bool) -> Result<bool, String> {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or(String::new(), |l| format!(" ({l})"));
        PANIC_PLACE.with_borrow_mut(|text| *text = place);
    }));
    let outcome = panic::catch_unwind(AssertUnwindSafe(pass));
    panic::set_hook(previous);
    outcome.map_err(|payload| {
        let place = PANIC_PLACE.with_borrow(String::clone);
        format!("okl: internal error: {}{place}", panic_text(&*payload))
    })
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("panic")
}
