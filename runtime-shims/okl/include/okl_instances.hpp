// The table of kernels that a program finds by their names while it runs: see okl_kernel.hpp. What stands in it is named in the
// file that has the kernel, by `template @kernel void axpy<double, 4>(...);` in OKL, and by OKL_INSTANTIATE(axpy<double, 4>);
// in C++ outside of functions. In OKL a literal that names an instance of a template of its file has that for itself.
#ifndef OKL_INSTANCES_HPP
#define OKL_INSTANCES_HPP

// What libokl_cpu.so is told: `runtime-shims/abi/src/cpu.rs` has these functions, and says what they are handed.
extern "C" {
void okl_cpu_add_kernel_v1(void *kernel);
void okl_cpu_add_literal_v1(void *kernel);
void okl_cpu_remove_kernel_v1(void *kernel);
void okl_cpu_add_source_v1(void *source);
void okl_cpu_remove_source_v1(void *source);
void *okl_cpu_find_kernel_v1(void *asked);
}

namespace okl_kernels {

// A kernel in the table, for as long as its file is part of the program: `KernelInstance` there.
struct Entry {
  const char *told;
  const char *arguments;
  void *code;
  const char *file;
  long long line;
};

// The compiler tells the type of the kernel and its name.
template <class T, T F> class Instance {
public:
  explicit Instance(const char *arguments, const char *file = __builtin_FILE(), int line = __builtin_LINE())
      : entry{__PRETTY_FUNCTION__, arguments, reinterpret_cast<void *>(F), file, line} {
    okl_cpu_add_kernel_v1(&entry);
  }
  ~Instance() { okl_cpu_remove_kernel_v1(&entry); }
  Instance(const Instance &) = delete;
  Instance &operator=(const Instance &) = delete;

private:
  Entry entry;
};

// What okl-c++ puts behind the text for a literal: an entry that needs no code to be filled in, so that the plugin sees the
// kernel in it, and what tells of it.
template <class T> using Pointer = T *;
template <class T, T F> constexpr const char *told() { return __PRETTY_FUNCTION__; }
struct Literal {
  explicit Literal(Entry *entry) : entry(entry) { okl_cpu_add_literal_v1(entry); }
  ~Literal() { okl_cpu_remove_kernel_v1(entry); }
  Literal(const Literal &) = delete;
  Literal &operator=(const Literal &) = delete;

  Entry *entry;
};

// The text of a file with templates, as okl-c++ puts it into the object: `KernelSource` there.
struct Source {
  Source(const char *packed, long long packed_size, long long size, const char *words, const char *names)
      : packed(packed), packed_size(packed_size), size(size), words(words), names(names) {
    okl_cpu_add_source_v1(this);
  }
  ~Source() { okl_cpu_remove_source_v1(this); }
  Source(const Source &) = delete;
  Source &operator=(const Source &) = delete;

  const char *packed;
  long long packed_size, size;
  const char *words, *names;
};

// A type alone.
template <class T> const char *type() { return __PRETTY_FUNCTION__; }

} // namespace okl_kernels

#define OKL_INSTANCE_NAMED(NUMBER) okl_kernel_##NUMBER
#define OKL_INSTANCE_OF(NUMBER) OKL_INSTANCE_NAMED(NUMBER)
#define OKL_INSTANTIATE(...)                                                                               \
  static ::okl_kernels::Instance<decltype(&__VA_ARGS__), &__VA_ARGS__> OKL_INSTANCE_OF(__COUNTER__)        \
      __attribute__((init_priority(101), unused))(#__VA_ARGS__)

#endif
