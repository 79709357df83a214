//! The safe side of `cxx/lanes.h`: the body of a loop for several elements at once.

use std::ffi::{c_uint, c_void};
use std::marker::PhantomData;

use inkwell::llvm_sys::core::{
    LLVMDeleteFunction, LLVMGetStringAttributeAtIndex, LLVMGetStringAttributeValue,
};
use inkwell::llvm_sys::prelude::LLVMValueRef;

use super::shim::{TextSink, collect_text};
use super::{Function, Value};

/// Where the element of a lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum LanePlace {
    /// At the number of the element.
    Direct,
    /// Where a column of a map leads.
    Mapped,
    /// Where several columns of a map lead.
    Columns,
    /// No element: its number.
    Number,
    /// The same for all.
    Global,
}

/// How the components of the lanes' elements lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum LaneStorage {
    /// Those of one element side by side.
    ByElement,
    /// In either way; the program says that those of one element lie side by side.
    Either,
    /// In either way; the program says that those of all elements lie side by side.
    EitherByComponent,
    /// Those of all elements side by side.
    ByComponent,
}

/// How the body accesses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum LaneAccess {
    /// Reads only.
    Read = 1,
    /// Writes without reading.
    Write,
    /// Reads and writes.
    ReadWrite,
    /// Only adds to it.
    Increment,
    /// Only replaces it by something smaller.
    Min,
    /// Only replaces it by something larger.
    Max,
}

/// An argument of a loop, as far as lanes need to know it.
#[derive(Clone, Copy, Debug)]
pub struct LaneArgument {
    /// Where its elements are.
    pub place: LanePlace,
    /// What is done to them.
    pub access: LaneAccess,
    /// Bytes of a component.
    pub bytes: i64,
    /// Whether components are `float` or `double`.
    pub is_floating: bool,
    /// Whether they may be negative.
    pub is_signed: bool,
    /// How many an element has.
    pub components: i64,
    /// How many columns of the map are used at once.
    pub columns: i64,
    /// The first argument that is expected to use the same columns of the same map.
    pub leader: usize,
    /// Columns that its map is expected to have; 0 where anything is.
    pub arity: i64,
    /// Bytes from one element to the next; 0 where they are not known.
    pub size: i64,
    /// How its components lie.
    pub storage: LaneStorage,
}

impl LaneArgument {
    fn raw(&self, values: Option<&LaneValues<'_>>) -> RawArgument {
        let none = std::ptr::null_mut();
        let [data, size, map, arity, stride] = values.map_or([none; 5], |values| {
            let all = [values.data, values.size, values.map, values.arity];
            let [data, size, map, arity] = all.map(Value::raw);
            [data, size, map, arity, values.stride.raw()]
        });
        let found_size = values.and_then(|values| values.found_size);
        RawArgument {
            place: self.place as i64,
            access: self.access as i64,
            bytes: self.bytes,
            floating: self.is_floating,
            signed: self.is_signed,
            components: self.components,
            columns: self.columns,
            leader: self.leader as i64,
            arity_expected: self.arity,
            by_component: self.storage == LaneStorage::ByComponent,
            data,
            size,
            map,
            arity,
            found_size: found_size.map_or(none, Value::raw),
            stride,
        }
    }
}

/// Values at the end of a function's entry block, of the fields of a `Parameter`.
#[derive(Clone, Copy)]
pub struct LaneValues<'m> {
    /// Where the data begin.
    pub data: Value<'m>,
    /// Bytes from one element to the next, as they are expected.
    pub size: Value<'m>,
    /// The same as they are, where that is to be compared.
    pub found_size: Option<Value<'m>>,
    /// Bytes from one component to the next.
    pub stride: Value<'m>,
    /// The first column in use of the map.
    pub map: Value<'m>,
    /// Columns of the map.
    pub arity: Value<'m>,
}

/// `OklLaneArgument`.
#[repr(C)]
struct RawArgument {
    place: i64,
    access: i64,
    bytes: i64,
    floating: bool,
    signed: bool,
    components: i64,
    columns: i64,
    leader: i64,
    arity_expected: i64,
    by_component: bool,
    data: LLVMValueRef,
    size: LLVMValueRef,
    map: LLVMValueRef,
    arity: LLVMValueRef,
    found_size: LLVMValueRef,
    stride: LLVMValueRef,
}

unsafe extern "C" {
    fn okl_vector_bits(analyses: *mut c_void, function: LLVMValueRef) -> c_uint;
    fn okl_compile_like(function: LLVMValueRef, other: LLVMValueRef);
    fn okl_keeps_to_arguments(
        kernel: LLVMValueRef,
        arguments: *const RawArgument,
        count: usize,
        why: TextSink,
        to: *mut c_void,
    ) -> bool;
    fn okl_only_increments(
        kernel: LLVMValueRef,
        arguments: *const RawArgument,
        count: usize,
        which: usize,
    ) -> bool;
    fn okl_write_lanes(
        range: LLVMValueRef,
        rest: LLVMValueRef,
        kernel: LLVMValueRef,
        arguments: *const RawArgument,
        count: usize,
        width: c_uint,
        why: TextSink,
        to: *mut c_void,
    ) -> bool;
}

/// What the target has for vectors.
pub struct VectorUnit<'m> {
    analyses: *mut c_void,
    lives: PhantomData<&'m ()>,
}

impl VectorUnit<'_> {
    /// # Safety
    /// `analyses` are the module analyses that a pass over the module was handed, and outlive the result.
    pub(super) unsafe fn new(analyses: *mut c_void) -> Self {
        Self {
            analyses,
            lives: PhantomData,
        }
    }

    /// Bits of a vector in a function, which may be compiled for a target of its own.
    pub fn bits(&self, function: Function<'_>) -> u32 {
        // SAFETY: the analyses that belong to the function's module.
        unsafe { okl_vector_bits(self.analyses, function.raw()) }
    }
}

impl<'m> Function<'m> {
    /// The value of a string attribute.
    pub fn mark_value(self, name: &str) -> Option<String> {
        // SAFETY: a function and `name.len()` bytes; LLVM returns bytes it owns.
        unsafe {
            let index = super::value::FUNCTION_INDEX;
            let size = name.len() as u32;
            let found =
                LLVMGetStringAttributeAtIndex(self.raw(), index, name.as_ptr().cast(), size);
            if found.is_null() {
                return None;
            }
            let mut size = 0;
            let data = LLVMGetStringAttributeValue(found, &mut size);
            let bytes = std::slice::from_raw_parts(data.cast::<u8>(), size as usize);
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }

    /// Is compiled for the same target as another function, so that either may be inlined into the other.
    pub fn compile_like(self, other: Function<'m>) {
        // SAFETY: two functions.
        unsafe { okl_compile_like(self.raw(), other.raw()) }
    }

    /// Deletes a function nothing uses.
    pub fn erase_unused(self) {
        assert!(self.is_unused());
        // SAFETY: nothing refers to it.
        unsafe { LLVMDeleteFunction(self.raw()) }
    }

    /// Why the order of the elements matters to a body, or on which thread it runs.
    pub fn keeps_to_arguments(self, arguments: &[LaneArgument]) -> Result<(), String> {
        assert!(self.parameters().len() == arguments.len());
        let raw: Vec<_> = arguments.iter().map(|one| one.raw(None)).collect();
        let mut keeps = false;
        // SAFETY: a function and as many arguments as it has parameters; their values are not asked for.
        let why = collect_text(|sink, to| unsafe {
            keeps = okl_keeps_to_arguments(self.raw(), raw.as_ptr(), raw.len(), sink, to);
        });
        if keeps { Ok(()) } else { Err(why) }
    }

    /// Whether all that a body does to an argument is to add to it.
    pub fn only_increments(self, arguments: &[LaneArgument], which: usize) -> bool {
        assert!(self.parameters().len() == arguments.len() && which < arguments.len());
        let raw: Vec<_> = arguments.iter().map(|one| one.raw(None)).collect();
        // SAFETY: as above.
        unsafe { okl_only_increments(self.raw(), raw.as_ptr(), raw.len(), which) }
    }

    /// Completes this range function, whose entry block ends behind `values`: `width` elements at a time, and
    /// the others in a call of `rest`. Where it cannot be done: why. What was written is then of no use.
    pub fn write_lanes(
        self,
        rest: Function<'m>,
        body: Function<'m>,
        arguments: &[LaneArgument],
        values: &[LaneValues<'m>],
        width: i64,
    ) -> Result<(), String> {
        assert!(body.parameters().len() == arguments.len() && values.len() == arguments.len());
        assert!(arguments.iter().all(|one| one.leader < arguments.len()));
        let raw = arguments.iter().zip(values);
        let raw = raw.map(|(argument, values)| argument.raw(Some(values)));
        let raw: Vec<_> = raw.collect();
        let mut done = false;
        // SAFETY: functions of one module, two of them with a range function's type, and values of the
        // entry block; the arguments are as many as the body's parameters, as just checked.
        let why = collect_text(|sink, to| unsafe {
            done = okl_write_lanes(
                self.raw(),
                rest.raw(),
                body.raw(),
                raw.as_ptr(),
                raw.len(),
                width as c_uint,
                sink,
                to,
            );
        });
        if done { Ok(()) } else { Err(why) }
    }
}
