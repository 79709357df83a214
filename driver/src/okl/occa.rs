//! What OCCA's host programs load: for each kernel a C function of its name, which takes the address of each value, and
//! pointers as they are.

use std::fmt::Write;

use super::normalise::Normaliser;

/// A kernel that is defined outside of functions and classes.
pub(crate) struct Kernel {
    /// The token of its name.
    pub(crate) name: usize,
    /// How many parameters it has.
    pub(crate) parameters: usize,
}

/// How an argument comes, by the type of the kernel's parameter.
const ARGUMENTS: &str = "namespace okl_occa { \
template <class T> struct argument { static T &of(void *at) { return *static_cast<T *>(at); } }; \
template <class T> struct argument<T &> { static T &of(void *at) { return *static_cast<T *>(at); } }; \
template <class T> struct argument<T *> { static T *of(void *at) { return static_cast<T *>(at); } }; \
template <class T> struct argument<T *__restrict> : argument<T *> {}; \
template <class T> struct address { typedef void *type; }; \
template <class... T> inline void call(void (*kernel)(T...), typename address<T>::type... at) { \
kernel(argument<T>::of(at)...); } }\n";

/// The C functions of all kernels, each at the line of its kernel.
pub(crate) fn entries(done: &Normaliser) -> String {
    let mut text = String::new();
    if !done.kernels.is_empty() {
        text.push('\n');
        text += ARGUMENTS;
    }
    for kernel in &done.kernels {
        let name = done.tokens.word(kernel.name);
        let place = done.tokens.position(done.tokens.start(kernel.name));
        let numbers = 0..kernel.parameters;
        let declared: Vec<_> = numbers.clone().map(|at| format!("void *a{at}")).collect();
        let passed: String = numbers.map(|at| format!(", a{at}")).collect();
        let declared = declared.join(", ");
        let _ = write!(
            text,
            "#line {} \"{}\"\nextern \"C\" void okl_occa_{name}({declared}) __asm__(\"{name}\"); \
             extern \"C\" void okl_occa_{name}({declared}) {{ okl_occa::call(&{name}{passed}); }}\n",
            place.line, place.quoted
        );
    }
    text
}
