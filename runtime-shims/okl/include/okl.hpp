// OKL in plain C++: kernels that any C++ compiler takes, and that okl's plugin runs as OKL.
//
//   OKL_KERNEL void reverse(int n, const float *a, float *b) {
//     for (OKL_OUTER() int i = 0; i < n; i += 8) {
//       OKL_SHARED float s[8];
//       for (OKL_INNER() int j = 0; j < 8; ++j) s[j] = a[i + j];
//       for (OKL_INNER() int j = 0; j < 8; ++j) b[i + j] = s[7 - j];
//     }
//   }
//
// Without the plugin a kernel is its loops, one iteration after the other. This is right but where an inner loop
// contains okl::barrier(), and where a variable with OKL_EXCLUSIVE is used in more than one inner loop.
#ifndef OKL_HPP
#define OKL_HPP

#include "okl_instances.hpp"

// Also what has no word of its own here: OKL_SAYS("okl.unroll", 4) before the variable of a loop is @unroll(4).
#if defined(__clang__)
#define OKL_SAYS(...) __attribute__((annotate(__VA_ARGS__)))
#define OKL_MARKS __attribute__((convergent))
#else
#define OKL_SAYS(...)
#define OKL_MARKS
#endif

// Before a function that returns void.
#define OKL_KERNEL OKL_SAYS("okl.kernel")

// Before the variable that a loop declares: OKL_OUTER(), or OKL_OUTER(1) for axis 1.
#define OKL_OUTER(...) OKL_SAYS("okl.outer", okl::axis(__VA_ARGS__))
#define OKL_INNER(...) OKL_SAYS("okl.inner", okl::axis(__VA_ARGS__))
// OKL_TILE(16, OKL_AS_OUTER(), OKL_AS_INNER()): blocks of 16 iterations. A size that is no constant stands with the first
// value: for (OKL_TILE(OKL_COMPUTED, OKL_AS_OUTER(), OKL_AS_INNER()) int i = OKL_TILE_SIZE(size, 0); i < n; ++i)
#define OKL_TILE(SIZE, BLOCKS, ITERATIONS) OKL_SAYS("okl.tile", SIZE, BLOCKS, ITERATIONS, 1)
#define OKL_COMPUTED 0
#define OKL_TILE_SIZE(SIZE, FIRST) (okl::tile_size(static_cast<long long>(SIZE)), FIRST)
#define OKL_AS_OUTER(...) "outer", okl::axis(__VA_ARGS__)
#define OKL_AS_INNER(...) "inner", okl::axis(__VA_ARGS__)
#define OKL_AS_LOOP() "regular", -1
// Further words about a loop: for (OKL_OUTER() OKL_MAX_INNER_DIMS(16, 16) int i = ...
#define OKL_NOBARRIER OKL_SAYS("okl.nobarrier")
#define OKL_MAX_INNER_DIMS(...) OKL_SAYS("okl.max_inner_dims", __VA_ARGS__)
#define OKL_SIMD_LENGTH(N) OKL_SAYS("okl.simd_length", N)

// Before a variable between outer and inner loops.
#define OKL_SHARED OKL_SAYS("okl.shared")
#define OKL_EXCLUSIVE OKL_SAYS("okl.exclusive")

// Before the name of a pointer.
#define OKL_RESTRICT __restrict

// OKL_ATOMIC(sum += x): one update, or several statements that run without others in between.
#define OKL_ATOMIC(...)                                                                                    \
  do {                                                                                                     \
    okl::atomic_begin(0);                                                                                  \
    __VA_ARGS__;                                                                                           \
    okl::atomic_end();                                                                                     \
  } while (0)
#define OKL_ATOMIC_BLOCK(...)                                                                              \
  do {                                                                                                     \
    okl::atomic_begin(1);                                                                                  \
    __VA_ARGS__;                                                                                           \
    okl::atomic_end();                                                                                     \
  } while (0)

namespace okl {

// The axis of a loop; -1 is chosen by the nesting.
constexpr int axis(int number = -1) { return number; }

// What a barrier is for.
enum Group { block, warp };

// These mark places; the plugin knows them by these names.
OKL_MARKS void barrier(int group = block) noexcept __asm__("__okl_barrier");
void atomic_begin(int is_block) noexcept __asm__("__okl_atomic_begin");
void atomic_end() noexcept __asm__("__okl_atomic_end");
void tile_size(long long size) noexcept __asm__("__okl_tile_size");
inline void barrier(int) noexcept {}
inline void atomic_begin(int) noexcept {}
inline void atomic_end() noexcept {}
inline void tile_size(long long) noexcept {}

namespace detail {
template <long... Sizes> struct Place;
template <long Size> struct Place<Size> {
  static constexpr long of(long index) { return index; }
};
template <long Size, long... Others> struct Place<Size, Others...> {
  template <class... Indices> static constexpr long of(long index, Indices... others) {
    return index + Size * Place<Others...>::of(others...);
  }
};
} // namespace detail

// auto m = okl::dim<3, 4>(p): m(i, j) is p[i + 3 * j].
template <class T, long... Sizes> class Dim {
public:
  explicit constexpr Dim(T *data) : data(data) {}
  template <class... Indices> constexpr T &operator()(Indices... indices) const {
    static_assert(sizeof...(Indices) == sizeof...(Sizes), "as many indices as sizes");
    return data[detail::Place<Sizes...>::of(static_cast<long>(indices)...)];
  }

private:
  T *data;
};
template <long... Sizes, class T> constexpr Dim<T, Sizes...> dim(T *data) { return Dim<T, Sizes...>(data); }

} // namespace okl

#endif
