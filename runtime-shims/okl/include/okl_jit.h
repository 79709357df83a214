// Values that versions of code are to rest on which is compiled once more at run time (--okl-jit):
//
//   const int n = okl::jit_constant(order);   // C++
//   const int n = okl_jit_constant(order);    // C
//   #pragma omp parallel for
//   ...                                       // a loop of n turns
//
// It is the value, as it is there: a copy, which nothing else has the address of. So whatever the region may write or wait
// for, what it reads of its copy is known when it begins.
#ifndef OKL_JIT_H
#define OKL_JIT_H

#ifdef __cplusplus
#include <type_traits>

namespace okl {
template <class T> constexpr T jit_constant(T value) noexcept {
  static_assert(std::is_arithmetic<T>::value || std::is_enum<T>::value,
                "okl::jit_constant takes a number; of an object, give it the members that are to be known");
  return value;
}
} // namespace okl
#else
// Of anything but a number the compiler says that it has no sign.
#define okl_jit_constant(VALUE) (+(VALUE))
#endif

#endif
