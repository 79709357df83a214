//! What OCCA's host programs load: for each kernel a C function of its name. Where kernels run on the processor it takes the
//! address of each value, and pointers as they are; where they run on OCCA's devices, the kernels of the device in front, and
//! in place of pointers OCCA's own objects for memory (see `occa_devices`).

use std::fmt::Write;

use super::edits::Edit;
use super::normalise::Normaliser;

/// What of OCCA's calls the kernels of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occa {
    /// Its modes that run kernels on the processor.
    Processor,
    /// Its modes for devices.
    Devices,
}

/// A kernel that is defined outside of functions and classes.
pub(crate) struct Kernel {
    /// The token of its name.
    pub(crate) name: usize,
    /// The names of its parameters.
    pub(crate) parameters: Vec<String>,
}

/// How an argument comes, by the type of the kernel's parameter.
const ARGUMENTS: &str = "namespace okl_occa { \
template <class T> struct argument { static T &of(void *at) { return *static_cast<T *>(at); } }; \
template <class T> struct argument<T &> { static T &of(void *at) { return *static_cast<T *>(at); } }; \
template <class T> struct argument<T *> { static T *of(void *at) { return static_cast<T *>(POINTER); } }; \
template <class T> struct argument<T *__restrict> : argument<T *> {}; \
template <class T> struct address { typedef void *type; }; \
template <class... T> inline void call(void (*kernel)(T...), typename address<T>::type... at) { \
kernel(argument<T>::of(at)...); } }\n";

/// What `occa_devices/launcher.cpp` has for them.
const ON_DEVICES: &str = "extern \"C\" { __attribute__((visibility(\"hidden\"))) void okl_occa_begin(void *); \
__attribute__((visibility(\"hidden\"))) void *okl_occa_pointer(void *); }\n";

/// The numbers of types in [`SECTION`]: as C++ has them, and as OCCA calls them. What is none of them is the first.
pub(crate) const TYPES: [(&str, &str); 12] = [
    ("", "byte"),
    ("bool", "bool"),
    ("char", "char"),
    ("signed char", "int8"),
    ("unsigned char", "uint8"),
    ("short", "short"),
    ("unsigned short", "uint16"),
    ("int", "int"),
    ("unsigned int", "uint32"),
    ("long", "long"),
    ("float", "float"),
    ("double", "double"),
];
/// Added to the number of what a pointer leads to.
pub(crate) const POINTER: u8 = 128;
/// Added to it where that is constant.
pub(crate) const CONSTANT: u8 = 64;

/// Where the object says what parameters kernels have: for each kernel its name, how many it has, and for each of these the
/// number of its type and its name. Names end with a 0.
pub(crate) const SECTION: &str = ".okl.occa";

/// What the names of a kernel's functions on a device begin with.
pub(crate) const ENTRY: &str = "_occa_";

/// The C functions of all kernels, each at the line of its kernel.
pub(crate) fn entries(done: &Normaliser, occa: Occa) -> String {
    let mut text = String::new();
    if !done.kernels.is_empty() {
        text.push('\n');
        match occa {
            Occa::Processor => text += &ARGUMENTS.replace("POINTER", "at"),
            Occa::Devices => {
                text += ON_DEVICES;
                text += &ARGUMENTS.replace("POINTER", "okl_occa_pointer(at)");
                text += &types();
            }
        }
    }
    for kernel in &done.kernels {
        let name = done.tokens.word(kernel.name);
        let place = done.tokens.position(done.tokens.start(kernel.name));
        let numbers = 0..kernel.parameters.len();
        let declared = numbers.clone().map(|at| format!("void *a{at}"));
        let passed: String = numbers.clone().map(|at| format!(", a{at}")).collect();
        let kernels = (occa == Occa::Devices).then(|| "void *kernels".to_owned());
        let declared: Vec<_> = kernels.into_iter().chain(declared).collect();
        let declared = declared.join(", ");
        let begin = match occa {
            Occa::Processor => "",
            Occa::Devices => "okl_occa_begin(kernels); ",
        };
        let _ = write!(
            text,
            "#line {} \"{}\"\nextern \"C\" void okl_occa_{name}({declared}) __asm__(\"{name}\"); \
             extern \"C\" void okl_occa_{name}({declared}) {{ {begin}okl_occa::call(&{name}{passed}); }}\n",
            place.line, place.quoted
        );
        if occa == Occa::Devices {
            let letters = |name: &str| -> String {
                let bytes = name.bytes().chain([0]);
                bytes.map(|byte| format!(", {byte}")).collect()
            };
            let told = numbers.zip(&kernel.parameters).map(|(at, name)| {
                format!(
                    ", okl_occa::parameter<decltype(&{}), {at}>::is{}",
                    done.tokens.word(kernel.name),
                    letters(name)
                )
            });
            let _ = writeln!(
                text,
                "extern \"C\" const unsigned char okl_occa_told_{name}[] \
                 __attribute__((section(\"{SECTION}\"), used, aligned(1), visibility(\"hidden\"))) = {{ {}, {}{} }};",
                &letters(name)[2..],
                kernel.parameters.len(),
                told.collect::<String>(),
            );
        }
    }
    text
}

/// What has kernels of devices be called as OCCA looks for them.
pub(crate) fn names(done: &Normaliser) -> Vec<Edit> {
    let edits = done.kernels.iter().map(|kernel| {
        let start = done.tokens.start(kernel.name);
        let name = done.tokens.word(kernel.name);
        Edit {
            start,
            end: start,
            text: format!("__attribute__((annotate(\"okl.entry\", \"{ENTRY}{name}\"))) "),
            at: None,
            is_line: false,
        }
    });
    edits.collect()
}

/// The numbers of types, as the compiler finds them out.
fn types() -> String {
    let mut text =
        "namespace okl_occa { template <class T> struct kind { enum { is = 0 }; }; ".to_owned();
    for (number, (name, _)) in TYPES.iter().enumerate().skip(1) {
        let _ = write!(
            text,
            "template <> struct kind<{name}> {{ enum {{ is = {number} }}; }}; "
        );
    }
    let of_constant = POINTER + CONSTANT;
    let _ = writeln!(
        text,
        "template <class T> struct told : kind<T> {{}}; \
         template <class T> struct told<T &> : kind<T> {{}}; \
         template <class T> struct told<const T &> : kind<T> {{}}; \
         template <class T> struct told<T *> {{ enum {{ is = {POINTER} + kind<T>::is }}; }}; \
         template <class T> struct told<const T *> {{ enum {{ is = {of_constant} + kind<T>::is }}; }}; \
         template <class T> struct told<T *__restrict> : told<T *> {{}}; \
         template <class F, int N> struct parameter; \
         template <class A, class... T> struct parameter<void (*)(A, T...), 0> : told<A> {{}}; \
         template <class A, class... T, int N> struct parameter<void (*)(A, T...), N> \
         : parameter<void (*)(T...), N - 1> {{}}; }}"
    );
    text
}
