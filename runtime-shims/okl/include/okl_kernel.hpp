// Kernels that a program finds by their names while it runs:
//
//   auto axpy = okl::kernel<void(int, double, const double *, double *)>("axpy<double, 4>");
//   axpy(n, a, x, y);
//
// The name may be made while the program runs, also of parts: okl::kernel<...>("axpy", {type, number}). What is there is what
// files with kernels name: see okl_instances.hpp. Where there is no such kernel, or its parameters are of other types, that is
// an okl::error, which says what there is.
#ifndef OKL_KERNEL_HPP
#define OKL_KERNEL_HPP

#include "okl_instances.hpp"

#include <initializer_list>
#include <stdexcept>
#include <string>
#if !defined(__cpp_exceptions)
#include <cstdio>
#include <cstdlib>
#endif

namespace okl {

// What is wrong: `FILE:LINE: ...`.
class error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// Where something is written.
struct place {
  const char *file;
  int line;
  static constexpr place here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return place{file, line};
  }
};

template <class Signature> class kernel;

// A kernel with parameters of these types.
template <class... Parameters> class kernel<void(Parameters...)> {
public:
  explicit kernel(const std::string &name, place at = place::here()) : code(find(name, at)) {}
  kernel(const std::string &name, std::initializer_list<std::string> arguments, place at = place::here())
      : code(find(joined(name, arguments), at)) {}

  void operator()(Parameters... arguments) const { code(static_cast<Parameters &&>(arguments)...); }

private:
  using Code = void (*)(Parameters...);

  // What okl_cpu_find_kernel_v1 is asked, and its answer where it finds none.
  struct Asked {
    const char *name, *type, *file;
    long long line;
    char *message;
    long long room;
  };

  static std::string joined(const std::string &name, std::initializer_list<std::string> arguments) {
    std::string all = name;
    const char *between = "<";
    for (const std::string &one : arguments) {
      all += between + one;
      between = ", ";
    }
    return all + (arguments.size() ? ">" : "");
  }

  static Code find(const std::string &name, place at) {
    char message[2048] = "";
    Asked asked{name.c_str(), okl_kernels::type<Code>(), at.file, at.line, message, sizeof message};
    if (void *found = okl_cpu_find_kernel_v1(&asked))
      return reinterpret_cast<Code>(found);
#if defined(__cpp_exceptions)
    throw error(message);
#else
    std::fprintf(stderr, "%s\n", message);
    std::exit(1);
#endif
  }

  Code code;
};

} // namespace okl

#endif
