//! What is noted of modules, variables, accesses and loops.

use std::ffi::{CStr, c_char, c_uint};

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{
    LLVMDIFileGetFilename, LLVMDIGlobalVariableExpressionGetVariable, LLVMDIScopeGetFile,
    LLVMDISubprogramGetLine, LLVMDIVariableGetFile, LLVMDIVariableGetLine, LLVMGetSubprogram,
};
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef, LLVMValueRef};

use super::shim::Text;
use super::{Function, Global, Instruction, Module, Value};

unsafe extern "C" {
    fn okl_remove_loop_option(terminator: LLVMValueRef, name: Text);
    fn okl_add_loop_option(terminator: LLVMValueRef, name: Text, has_number: bool, number: u32);
    fn okl_mark_independent(
        accesses: *const LLVMValueRef,
        count: usize,
        ends: *const LLVMValueRef,
        loops: usize,
    );
    fn okl_unroll_late(terminator: LLVMValueRef);
}

/// The operands of a node; none of anything else.
///
/// # Safety
/// `node` is null or live metadata.
unsafe fn operands(node: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: not null where it is asked; LLVM writes as many operands as it has counted.
    unsafe {
        if node.is_null() || LLVMIsAMDNode(node).is_null() {
            return Vec::new();
        }
        let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
        operands
    }
}

/// # Safety
/// As many live bytes as it says.
unsafe fn copied(bytes: *const c_char, size: c_uint) -> Option<String> {
    // SAFETY: the caller vouches for the bytes.
    (!bytes.is_null()).then(|| unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), size as usize);
        String::from_utf8_lossy(bytes).into_owned()
    })
}

/// # Safety
/// `node` is null or live metadata.
unsafe fn text_of(node: LLVMValueRef) -> Option<String> {
    let mut size = 0;
    // SAFETY: not null where it is asked; LLVM returns null or `size` bytes.
    unsafe {
        let bytes = (!node.is_null()).then(|| LLVMGetMDString(node, &mut size));
        copied(bytes?, size)
    }
}

/// # Safety
/// A live context.
unsafe fn kind(context: LLVMContextRef, name: &str) -> c_uint {
    // SAFETY: a live context and `name.len()` bytes.
    unsafe { LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as c_uint) }
}

impl Instruction<'_> {
    /// Notes something of it, which copies of it have noted, too.
    pub fn note(self, name: &str) {
        // SAFETY: an instruction, its context, and metadata of that.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.raw()));
            let node = LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0);
            let value = LLVMMetadataAsValue(context, node);
            LLVMSetMetadata(self.raw(), kind(context, name), value);
        }
    }

    /// Notes a number of it, which copies of it have noted, too. What LLVM makes of two instructions has it no more.
    pub fn note_number(self, name: &str, number: usize) {
        // SAFETY: an instruction, its context, and metadata of that.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.raw()));
            let number = LLVMConstInt(LLVMInt64TypeInContext(context), number as u64, 0);
            let number = LLVMValueAsMetadata(number);
            let node = LLVMMDNodeInContext2(context, [number].as_mut_ptr(), 1);
            let value = LLVMMetadataAsValue(context, node);
            LLVMSetMetadata(self.raw(), kind(context, name), value);
        }
    }

    /// The number that is noted of it.
    pub fn noted_number(self, name: &str) -> Option<usize> {
        // SAFETY: an instruction and its context; an operand of metadata, of which is asked what it is.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.raw()));
            let noted = operands(LLVMGetMetadata(self.raw(), kind(context, name)));
            let number = noted.first().filter(|one| !one.is_null())?;
            let number = LLVMIsAConstantInt(*number);
            (!number.is_null()).then(|| LLVMConstIntGetZExtValue(number) as usize)
        }
    }

    /// Whether that is noted of it.
    pub fn has_note(self, name: &str) -> bool {
        // SAFETY: an instruction and its context.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.raw()));
            !LLVMGetMetadata(self.raw(), kind(context, name)).is_null()
        }
    }
}

impl Module {
    /// Notes bytes of it.
    pub fn note_bytes(&self, name: &CStr, bytes: &[u8]) {
        // SAFETY: a live module and its context, and as many bytes.
        unsafe {
            let context = self.raw_context();
            let text = LLVMMDStringInContext2(context, bytes.as_ptr().cast(), bytes.len());
            let node = LLVMMDNodeInContext2(context, [text].as_mut_ptr(), 1);
            let value = LLVMMetadataAsValue(context, node);
            LLVMAddNamedMetadataOperand(self.raw(), name.as_ptr(), value);
        }
    }
}

/// What made a module: one compiler, or several where it was several.
///
/// # Safety
/// A live module.
unsafe fn producers(module: LLVMModuleRef) -> Vec<String> {
    let name = c"llvm.ident".as_ptr();
    // SAFETY: LLVM writes as many operands as it has counted.
    unsafe {
        let count = LLVMGetNamedMetadataNumOperands(module, name) as usize;
        let mut producers = vec![std::ptr::null_mut(); count];
        LLVMGetNamedMetadataOperands(module, name, producers.as_mut_ptr());
        let texts = producers.into_iter().map(|one| operands(one));
        texts
            .filter_map(|operands| text_of(*operands.first()?))
            .collect()
    }
}

impl Module {
    /// What made it: one compiler, or several where it was several modules.
    pub fn producers(&self) -> Vec<String> {
        // SAFETY: a live module.
        unsafe { producers(self.raw()) }
    }
}

impl Function<'_> {
    /// What made its module; empty where that is not known.
    pub fn producer(self) -> String {
        // SAFETY: the module of a function.
        let all = unsafe { producers(LLVMGetGlobalParent(self.raw())) };
        all.into_iter().next().unwrap_or_default()
    }
}

impl Function<'_> {
    /// File and line of its definition, from the debug information.
    pub fn source_location(self) -> Option<(String, u32)> {
        let mut size = 0;
        // SAFETY: a function, whose description LLVM returns, or null; and that of its file.
        unsafe {
            let subprogram = LLVMGetSubprogram(self.raw());
            if subprogram.is_null() {
                return None;
            }
            let file = LLVMDIScopeGetFile(subprogram);
            let name = (!file.is_null()).then(|| LLVMDIFileGetFilename(file, &mut size))?;
            Some((copied(name, size)?, LLVMDISubprogramGetLine(subprogram)))
        }
    }
}

impl Global<'_> {
    /// `file:line` of its definition; empty without debug information.
    pub fn source_location(self) -> String {
        let mut found = None;
        // SAFETY: a global variable; LLVM lists its metadata, which are ours to dispose of. Those of this kind are
        // variables of the source.
        unsafe {
            let context = LLVMGetModuleContext(LLVMGetGlobalParent(self.raw()));
            let debug = kind(context, "dbg");
            let mut count = 0;
            let noted = LLVMGlobalCopyAllMetadata(self.raw(), &mut count);
            for at in 0..count as c_uint {
                if found.is_none() && LLVMValueMetadataEntriesGetKind(noted, at) == debug {
                    let one = LLVMValueMetadataEntriesGetMetadata(noted, at);
                    let variable = LLVMDIGlobalVariableExpressionGetVariable(one);
                    let file = LLVMDIVariableGetFile(variable);
                    let mut size = 0;
                    let name = (!file.is_null()).then(|| LLVMDIFileGetFilename(file, &mut size));
                    let name = name.and_then(|name| copied(name, size)).unwrap_or_default();
                    found = Some(format!("{name}:{}", LLVMDIVariableGetLine(variable)));
                }
            }
            LLVMDisposeValueMetadataEntries(noted);
        }
        found.unwrap_or_default()
    }
}

/// The names in a tag: of the type of an access, and of those that it is a kind of.
///
/// # Safety
///
/// The operands of a node of metadata.
unsafe fn names_of_type(tag: &[LLVMValueRef]) -> Option<Vec<String>> {
    // A tag is the type of the object, that of the access, and a distance; a type is its name, its parent and 0.
    // SAFETY: nodes of metadata, whose numbers of operands are looked at.
    unsafe {
        let name = |node| text_of(*operands(node).first()?);
        if tag.len() < 3 {
            return None;
        }
        let mut names = vec![name(tag[1])?];
        let mut ty = operands(tag[1]);
        while ty.len() > 1 {
            names.extend(name(ty[1]));
            ty = operands(ty[1]);
        }
        Some(names)
    }
}

impl<'m> Instruction<'m> {
    /// Has nothing noted of the types of what it accesses.
    pub fn forget_types(self, module: &Module) {
        for name in ["tbaa", "tbaa.struct"] {
            // SAFETY: an instruction of the module, and the context of this.
            unsafe {
                let kind = kind(module.raw_context(), name);
                LLVMSetMetadata(self.raw(), kind, std::ptr::null_mut());
            }
        }
    }

    /// The name of the type that clang noted of an access, and those of the types that this one is a kind of. `None` where
    /// nothing is noted.
    pub fn noted_type(self, module: &Module) -> Option<Vec<String>> {
        // SAFETY: an instruction of the module, and what is attached to it.
        unsafe {
            let tag = LLVMGetMetadata(self.raw(), kind(module.raw_context(), "tbaa"));
            names_of_type(&operands(tag))
        }
    }

    /// The same of all that a copy of a structure accesses: the types of its fields.
    pub fn noted_types_of_fields(self, module: &Module) -> Option<Vec<Vec<String>>> {
        const FIELD: usize = 3;
        // SAFETY: as above. A structure is a list of fields, each of them its place, its size and a tag.
        unsafe {
            let noted = LLVMGetMetadata(self.raw(), kind(module.raw_context(), "tbaa.struct"));
            let fields = operands(noted);
            let whole = !fields.is_empty() && fields.len().is_multiple_of(FIELD);
            let fields = fields.chunks_exact(FIELD).filter(|_| whole);
            let names: Option<Vec<_>> = fields
                .map(|field| names_of_type(&operands(field[2])))
                .collect();
            names.filter(|names| !names.is_empty())
        }
    }

    /// Of the end of a block that closes a loop: the first value that an option of the loop has, if it has the option and
    /// that a value.
    pub fn loop_option(self, module: &'m Module, name: &str) -> Option<Option<Value<'m>>> {
        // SAFETY: an instruction; metadata that it has.
        unsafe {
            let noted = LLVMGetMetadata(self.raw(), kind(module.raw_context(), "llvm.loop"));
            let mut options = operands(noted).into_iter().skip(1).map(|one| operands(one));
            let is_it = |option: &Vec<_>| {
                let first = option.first();
                first.and_then(|first| text_of(*first)).as_deref() == Some(name)
            };
            let value = options.find(is_it)?.get(1).copied();
            Some(
                value
                    .filter(|one| !one.is_null())
                    .map(|one| Value::new(one)),
            )
        }
    }

    /// Takes back an option of the loop that this end of a block closes.
    pub fn remove_loop_option(self, module: &'m Module, name: &str) {
        assert!(self.loop_option(module, name).is_some());
        // SAFETY: an instruction with options of a loop; the text lives through the call.
        unsafe { okl_remove_loop_option(self.raw(), Text::new(name)) }
    }

    /// Gives the loop that this end of a block closes another option, with a number or without.
    pub fn add_loop_option(self, name: &str, number: Option<u32>) {
        let (has_number, number) = (number.is_some(), number.unwrap_or(0));
        // SAFETY: an instruction; the text lives through the call.
        unsafe { okl_add_loop_option(self.raw(), Text::new(name), has_number, number) }
    }

    /// The names of the options of the loop that this end of a block closes.
    pub fn loop_options(self, module: &'m Module) -> Vec<String> {
        // SAFETY: an instruction; metadata that it has.
        unsafe {
            let noted = LLVMGetMetadata(self.raw(), kind(module.raw_context(), "llvm.loop"));
            let options = operands(noted).into_iter().skip(1);
            let names = options.filter_map(|one| text_of(*operands(one).first()?));
            names.collect()
        }
    }

    /// Says of loops, one in the other, which these ends of blocks close, that no turn of them depends on another one by
    /// these loads and stores.
    pub fn mark_independent(accesses: &[Self], ends: &[Self]) {
        let is_access = |one: &Self| one.is_plain_access();
        assert!(accesses.iter().all(is_access) && !ends.is_empty());
        let raw = |all: &[Self]| all.iter().map(|one| one.raw()).collect::<Vec<_>>();
        let (accesses, ends) = (raw(accesses), raw(ends));
        // SAFETY: as many live instructions as it says, some ends among them.
        unsafe {
            okl_mark_independent(accesses.as_ptr(), accesses.len(), ends.as_ptr(), ends.len());
        }
    }

    /// Has the loop that this end of a block closes unrolled when it has been vectorised, and not before.
    pub fn unroll_late(self) {
        // SAFETY: an instruction.
        unsafe { okl_unroll_late(self.raw()) }
    }
}
