//! Code as bitcode, and machine code of it in this process: the safe side of `cxx/jit.cpp`, and the C API's part.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_void};

use inkwell::llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use inkwell::llvm_sys::orc2::lljit::*;
use inkwell::llvm_sys::orc2::*;
use inkwell::llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};
use inkwell::llvm_sys::target_machine::*;
use okl_abi::jit::codes::{self, Codes};

use super::kernels::silence;
use super::shim::{Text, TextSink};
use super::{Function, Global, Instruction, Machine, Module, OwnModule, Type, Value};

unsafe extern "C" {
    fn okl_jit_detach(module: LLVMModuleRef);
    fn okl_jit_place_anywhere(module: LLVMModuleRef);
    fn okl_jit_keep_apart(instruction: LLVMValueRef);
    fn okl_jit_write(module: LLVMModuleRef, sink: TextSink, to: *mut c_void);
    fn okl_jit_hash(of: Text, to: *mut u8);
    fn okl_jit_pack(from: Text, sink: TextSink, to: *mut c_void);
    fn okl_jit_unpack(from: Text, to: *mut u8, length: usize) -> bool;
    fn okl_jit_run(module: LLVMModuleRef, machine: LLVMTargetMachineRef, late: bool);
    fn okl_jit_link(module: LLVMModuleRef, bitcode: Text) -> bool;
    fn okl_in_program();
}

/// From now on nothing of this process's is changed meanwhile where LLVM may fail: it is no compiler's. See `cxx/attempt.h`.
pub fn in_program() {
    // SAFETY: sets a variable.
    unsafe { okl_in_program() }
}

/// Makes this processor known to LLVM, for whoever is not a compiler.
pub fn own_targets() {
    use inkwell::llvm_sys::target::*;
    // SAFETY: that may be done any number of times.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            LLVMInitializeX86AsmPrinter();
            LLVMInitializeX86AsmParser();
        }
        #[cfg(target_arch = "aarch64")]
        {
            LLVMInitializeAArch64TargetInfo();
            LLVMInitializeAArch64Target();
            LLVMInitializeAArch64TargetMC();
            LLVMInitializeAArch64AsmPrinter();
            LLVMInitializeAArch64AsmParser();
        }
    }
}

/// The file that LLVM was loaded from.
pub fn llvm_file() -> Option<CString> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address of LLVM's, which stays loaded, and its file's name with it.
    unsafe {
        let known = libc::dladdr(LLVMContextCreate as *const c_void, found.as_mut_ptr()) != 0;
        let name = found.assume_init().dli_fname;
        (known && !name.is_null()).then(|| CStr::from_ptr(name).to_owned())
    }
}

/// A module of code that was [picked](codes::pick).
pub fn read_picked(bytes: &[u8]) -> Result<OwnModule, String> {
    let (number, all) = codes::picked(bytes).ok_or("it is no code")?;
    let unpacked = unpack(&all).ok_or("this LLVM cannot read compressed code")?;
    let place = all.place(number).expect("it is one of them");
    OwnModule::read(&unpacked[place])
}

/// The bitcode of several modules, as [`codes`].
pub fn pack(all: &[&[u8]]) -> Vec<u8> {
    let parts = all.iter().map(|one| {
        let mut hash = [0; codes::HASH];
        // SAFETY: there is room for a hash.
        unsafe { okl_jit_hash(Text::of_bytes(one), hash.as_mut_ptr()) }
        (one.len(), hash)
    });
    let plain = all.concat();
    // SAFETY: bytes that live through the call.
    let packed =
        collect_bytes(|sink, to| unsafe { okl_jit_pack(Text::of_bytes(&plain), sink, to) });
    let is_less = !packed.is_empty() && packed.len() < plain.len();
    let codes = Codes {
        parts: parts.collect(),
        packed: if is_less { &packed } else { &plain },
    };
    codes.write()
}

/// What [`pack`] was given, one behind the other.
fn unpack<'a>(codes: &Codes<'a>) -> Option<Cow<'a, [u8]>> {
    /// Code of programs is not larger.
    const MOST: usize = 1 << 30;
    let length = codes.length();
    if length == codes.packed.len() {
        return Some(codes.packed.into());
    }
    let mut bytes = vec![0; (length <= MOST).then_some(length)?];
    // SAFETY: as much room.
    let is_whole =
        unsafe { okl_jit_unpack(Text::of_bytes(codes.packed), bytes.as_mut_ptr(), length) };
    is_whole.then_some(bytes.into())
}

/// Bytes that the shim hands over.
fn collect_bytes(ask: impl FnOnce(TextSink, *mut c_void)) -> Vec<u8> {
    unsafe extern "C" fn push(to: *mut c_void, bytes: Text) {
        // SAFETY: the vector below, and bytes that live through the call.
        unsafe { (*to.cast::<Vec<u8>>()).extend(bytes.bytes()) }
    }
    let mut all = Vec::new();
    ask(push, (&raw mut all).cast());
    all
}

/// What LLVM says of the processor that runs this.
fn told(ask: unsafe extern "C" fn() -> *mut std::ffi::c_char) -> CString {
    // SAFETY: LLVM gives a text, which is ours to dispose of.
    unsafe {
        let text = ask();
        let own = CStr::from_ptr(text).to_owned();
        LLVMDisposeMessage(text);
        own
    }
}

impl Machine {
    /// For the processor that runs this, and its names: of the processor and of what it has. None where LLVM lacks it.
    pub fn own() -> Option<(Self, [String; 2])> {
        let triple = told(LLVMGetDefaultTargetTriple);
        let (name, features) = (told(LLVMGetHostCPUName), told(LLVMGetHostCPUFeatures));
        let (mut target, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: texts that live through the calls; LLVM gives a target or a message, which is ours to dispose of.
        let raw = unsafe {
            if LLVMGetTargetFromTriple(triple.as_ptr(), &mut target, &mut message) != 0 {
                LLVMDisposeMessage(message);
                return None;
            }
            LLVMCreateTargetMachine(
                target,
                triple.as_ptr(),
                name.as_ptr(),
                features.as_ptr(),
                LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
                LLVMRelocMode::LLVMRelocPIC,
                LLVMCodeModel::LLVMCodeModelSmall,
            )
        };
        let texts = [name, features].map(|text| text.to_string_lossy().into_owned());
        (!raw.is_null()).then_some((Self(raw), texts))
    }

    /// Simplifies the functions of a module, of which more is known than when that was done before, and runs the stages in
    /// front of vectorisation.
    pub fn simplify_again(&self, module: &mut OwnModule) {
        // SAFETY: a live module of this machine's, of which nobody holds values.
        unsafe { okl_jit_run(module.raw(), self.0, false) }
    }

    /// Does with it what LLVM does behind these stages.
    pub fn vectorise(&self, module: &mut OwnModule) {
        // SAFETY: as above.
        unsafe { okl_jit_run(module.raw(), self.0, true) }
    }
}

impl OwnModule {
    /// Reads bitcode, in a context of its own, which is never given back.
    pub fn read(bitcode: &[u8]) -> Result<Self, String> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: bytes that live through the call; LLVM gives a module, or fails.
        unsafe {
            let (data, size) = (bitcode.as_ptr().cast(), bitcode.len());
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(data, size, c"code".as_ptr());
            let context = LLVMContextCreate();
            silence(context);
            let failed = LLVMParseBitcodeInContext2(context, buffer, &mut raw) != 0;
            LLVMDisposeMemoryBuffer(buffer);
            match failed {
                true => Err("LLVM cannot read the bitcode".to_string()),
                false => Ok(Self::new(raw)),
            }
        }
    }

    /// Takes from it what concerns the file and the program that it is of.
    pub fn detach(&mut self) {
        // SAFETY: a live module, of which nobody holds values.
        unsafe { okl_jit_detach(self.raw()) }
    }

    /// Adds what bitcode has; false where LLVM cannot do that. Who holds values of the module may go on with them by their names.
    pub fn link(&mut self, bitcode: &[u8]) -> bool {
        // SAFETY: a live module, of which nobody holds values, and bytes that live through the call.
        unsafe { okl_jit_link(self.raw(), Text::of_bytes(bitcode)) }
    }

    /// Has what it declares be at any distance.
    pub fn place_anywhere(&mut self) {
        // SAFETY: as above.
        unsafe { okl_jit_place_anywhere(self.raw()) }
    }
}

impl Module {
    /// As LLVM's bitcode.
    pub fn bitcode(&self) -> Vec<u8> {
        // SAFETY: a live module.
        collect_bytes(|sink, to| unsafe { okl_jit_write(self.raw(), sink, to) })
    }

    /// A constant that consists of these bytes.
    pub fn const_bytes(&self, bytes: &[u8]) -> Value<'_> {
        let (data, size) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: a live context and as many bytes.
        unsafe { Value::new(LLVMConstStringInContext2(self.raw_context(), data, size, 1)) }
    }
}

impl Module {
    /// A constant in an address space that consists of these bytes; as a pointer of a type.
    pub fn add_table<'m>(
        &'m self,
        bytes: &[u8],
        align: u32,
        space: u32,
        ty: Type<'m>,
    ) -> Value<'m> {
        let value = self.const_bytes(bytes);
        // SAFETY: a live module, a value of its context, a power of two and a type of pointers.
        unsafe {
            let name = c"okl.jit.known".as_ptr();
            let raw = LLVMAddGlobalInAddressSpace(self.raw(), value.ty().raw(), name, space);
            LLVMSetLinkage(raw, super::Linkage::LLVMInternalLinkage);
            LLVMSetInitializer(raw, value.raw());
            LLVMSetGlobalConstant(raw, 1);
            LLVMSetAlignment(raw, align);
            match ty.space() == Some(space) {
                true => Value::new(raw),
                false => Value::new(LLVMConstAddrSpaceCast(raw, ty.raw())),
            }
        }
    }
}

impl<'m> Type<'m> {
    /// The number of this type that has these bytes.
    pub fn constant_of_bytes(self, module: &'m Module, bytes: &[u8]) -> Option<Value<'m>> {
        let mut whole = [0; 8];
        whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let bits = module.int(8 * bytes.len() as u32);
        let number = bits.integer_constant(i64::from_le_bytes(whole));
        if self == bits {
            return Some(number);
        }
        let is_such =
            self.is_float_or_double() && module.store_size_of(self) as usize == bytes.len();
        // SAFETY: a constant, and a type of as many bits.
        is_such.then(|| unsafe { Value::new(LLVMConstBitCast(number.raw(), self.raw())) })
    }
}

impl<'m> Global<'m> {
    /// Is, wherever the module uses it, one that never changes and begins with `value`; where it is stays what it was.
    pub fn set_known(self, module: &'m Module, value: Value<'m>) {
        let linkage = super::Linkage::LLVMAvailableExternallyLinkage;
        let known = module.add_global("", value.ty(), Some(value), linkage);
        known.set_readonly();
        known.set_alignment(self.alignment());
        self.replace_all_uses_with(*known);
        let name = self.name();
        self.set_name("");
        known.set_name(&name);
        self.erase();
    }
}

impl Function<'_> {
    /// Takes back a string attribute.
    pub fn unmark(self, name: &str) {
        let (data, size) = (name.as_ptr().cast(), name.len() as u32);
        // SAFETY: a function and as many bytes.
        unsafe {
            LLVMRemoveStringAttributeAtIndex(
                self.raw(),
                inkwell::llvm_sys::LLVMAttributeFunctionIndex,
                data,
                size,
            )
        }
    }
}

impl Instruction<'_> {
    /// Lets no product and sum become one operation.
    pub fn keep_apart(self) {
        // SAFETY: an instruction.
        unsafe { okl_jit_keep_apart(self.raw()) }
    }

    /// Whether what it computes may be rounded or reordered as the compiler likes; that a product and a sum become one
    /// operation counts where it may `contract`.
    pub fn rounds_freely(self, contract: bool) -> bool {
        use inkwell::llvm_sys::{
            LLVMFastMathAllowContract, LLVMFastMathAllowReassoc, LLVMFastMathAllowReciprocal,
            LLVMFastMathApproxFunc, LLVMFastMathNoSignedZeros,
        };
        let contracted = match contract {
            true => LLVMFastMathAllowContract,
            false => 0,
        };
        let free = contracted
            | LLVMFastMathAllowReassoc
            | LLVMFastMathAllowReciprocal
            | LLVMFastMathApproxFunc
            | LLVMFastMathNoSignedZeros;
        // SAFETY: an instruction, which is asked for flags if it has any.
        unsafe {
            LLVMCanValueUseFastMathFlags(self.raw()) != 0
                && LLVMGetFastMathFlags(self.raw()) & free != 0
        }
    }
}

/// Machine code in this process, which stays there.
pub struct Linked(LLVMOrcLLJITRef);

/// What LLVM says of a failure.
///
/// # Safety
/// `error` is null or an error of LLVM's that nobody has taken.
unsafe fn checked(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise; the text is copied and disposed of.
    unsafe {
        let text = LLVMGetErrorMessage(error);
        let own = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(text);
        Err(own)
    }
}

impl Linked {
    /// Links an object, in which these names are what is at these addresses; other names are the program's and its
    /// libraries'.
    pub fn of(object: &[u8], names: &[(String, u64)]) -> Result<Self, String> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: LLVM gives an instance or an error; it takes the symbols and the buffer that it is handed.
        unsafe {
            checked(LLVMOrcCreateLLJIT(&mut raw, std::ptr::null_mut()))?;
            let library = LLVMOrcLLJITGetMainJITDylib(raw);
            let symbol = |(name, address): &(String, u64)| {
                let name = CString::new(name.as_str()).expect("symbol names have no NUL");
                LLVMOrcCSymbolMapPair {
                    Name: LLVMOrcLLJITMangleAndIntern(raw, name.as_ptr()),
                    Sym: LLVMJITEvaluatedSymbol {
                        Address: *address,
                        Flags: LLVMJITSymbolFlags {
                            GenericFlags:
                                LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8,
                            TargetFlags: 0,
                        },
                    },
                }
            };
            let mut symbols: Vec<_> = names.iter().map(symbol).collect();
            if !symbols.is_empty() {
                let defined = LLVMOrcAbsoluteSymbols(symbols.as_mut_ptr(), symbols.len());
                checked(LLVMOrcJITDylibDefine(library, defined))?;
            }
            let (data, size) = (object.as_ptr().cast(), object.len());
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(data, size, c"code".as_ptr());
            checked(LLVMOrcLLJITAddObjectFile(raw, library, buffer))?;
        }
        Ok(Self(raw))
    }

    /// Where something of that name is.
    pub fn address(&self, name: &str) -> Result<*mut c_void, String> {
        let name = CString::new(name).expect("symbol names have no NUL");
        let mut address = 0;
        // SAFETY: a live instance and a text that lives through the call.
        unsafe { checked(LLVMOrcLLJITLookup(self.0, &mut address, name.as_ptr()))? };
        Ok(std::ptr::with_exposed_provenance_mut(address as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_bitcode_is_told_of() {
        for wrong in [&b""[..], b"none", b"BC\xc0\xde none"] {
            let why = OwnModule::read(wrong).err();
            assert_eq!(why.as_deref(), Some("LLVM cannot read the bitcode"));
        }
    }

    #[test]
    fn code_is_picked_from_what_several_have_become() {
        let text = |name: &str| format!("define void @{name}() {{ ret void }}");
        let names = ["one", "other", "last"];
        let all = names.map(|name| OwnModule::parse(&text(name)).bitcode());
        let all = all.each_ref().map(Vec::as_slice);
        let packed = pack(&all);
        assert!(
            packed.len() < all[0].len() + all[1].len(),
            "{}",
            packed.len()
        );
        for (number, name) in names.into_iter().enumerate() {
            let code = read_picked(&codes::pick(number, &packed)).expect("it is there");
            assert!(code.function(name).is_some() && code.functions().len() == 1);
        }
        let [one, other] = [pack(&all[..1]), pack(&all[1..])];
        let identity = |number, of: &[u8]| codes::identity(&codes::pick(number, of));
        assert_eq!(identity(1, &packed), identity(0, &other));
        assert_ne!(identity(1, &packed), identity(0, &one));
        let mut damaged = codes::pick(0, &packed);
        *damaged.last_mut().expect("bytes") ^= 0x55;
        damaged.truncate(damaged.len() - 1);
        for wrong in [&b""[..], b"none", b"BC\xc0\xde none", &damaged] {
            assert!(read_picked(wrong).is_err());
        }
    }

    #[test]
    fn an_object_reaches_what_it_is_linked_with() {
        unsafe extern "C" fn receive(to: *mut u32) {
            // SAFETY: the test's number.
            unsafe { *to = 7 };
        }
        own_targets();
        let (machine, _) = Machine::own().expect("this processor's");
        let text = "declare void @receive(ptr) \
            define void @entry(ptr %to) { call void @receive(ptr %to) ret void }";
        let mut module = OwnModule::parse(text);
        let object = machine.compile(&mut module, false).expect("an object");
        let address = (receive as *const c_void).expose_provenance() as u64;
        let linked = Linked::of(&object, &[("receive".to_string(), address)]).expect("it is right");
        let entry = linked.address("entry").expect("it is there");
        assert!(linked.address("exit_of_nothing").is_err());
        let mut number = 0;
        // SAFETY: that is its type.
        unsafe {
            let entry = std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut u32)>(entry);
            entry(&mut number);
        }
        assert_eq!(number, 7);
    }
}
