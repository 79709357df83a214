// Intrinsics of OKL kernels: #include <okl_intrinsic.h>.
//
// On a processor a copy is made at once, so that there is nothing to wait for.
#ifndef OKL_INTRINSIC_H
#define OKL_INTRINSIC_H

#include <cstddef>
#include <cstring>
#include <type_traits>

// Writes `size` bytes: all but the last `zeros` of them are copies, these are zeros.
inline void okl_memcpy_async(void *to, const void *from, std::size_t size, std::size_t zeros = 0) {
  std::memcpy(to, from, size - zeros);
  std::memset(static_cast<char *>(to) + (size - zeros), 0, zeros);
}

// The same for variables by their names.
template <class T, class = std::enable_if_t<!std::is_pointer<T>::value && !std::is_array<T>::value>>
inline void okl_memcpy_async(T &to, const T &from, std::size_t size, std::size_t zeros = 0) {
  okl_memcpy_async(static_cast<void *>(&to), static_cast<const void *>(&from), size, zeros);
}

// Copies that a work item began since the last call are one stage of its pipeline.
inline void okl_pipeline_commit() {}

// Waits for all but the last `stages` stages.
inline void okl_pipeline_wait_prior(std::size_t stages) { static_cast<void>(stages); }

#endif
