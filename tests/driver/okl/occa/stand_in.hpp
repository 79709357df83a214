// What of OCCA's classes the libraries are compiled against that --okl-occa makes for devices: a few of their functions, as its
// documentation has them. A host defines them (OCCA_STAND_IN) by calls of CUDA's driver, or of AMD's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace occa {
typedef std::int64_t dim_t;
typedef std::uint64_t udim_t;

struct dim {
  dim(udim_t x_, udim_t y_, udim_t z_) : x(x_), y(y_), z(z_) {}
  udim_t x, y, z;
};

struct dtype_t {
  int bytes;
};
namespace dtype {
extern const dtype_t byte;
}

class modeDevice_t;
class modeKernel_t;
class modeMemory_t;
class device;

class memory {
 public:
  memory() : of(nullptr) {}
  memory(modeMemory_t *of_) : of(of_) {}
  bool isInitialized() const { return of != nullptr; }
  template <class T>
  T *ptr() {
    return static_cast<T *>(address());
  }
  void copyTo(void *to) const;

 private:
  void *address() const;
  modeMemory_t *of;
};

class kernelArg {
 public:
  void addPointer(void *value, std::size_t bytes) { values.push_back({value, bytes}); }
  struct value {
    void *at;
    std::size_t bytes;
  };
  std::vector<value> values;
};

class kernel {
 public:
  kernel(modeKernel_t *of_) : of(of_) {}
  const std::string &name();
  const std::string &mode() const;
  device getDevice();
  void clearArgs();
  void pushArg(const kernelArg &one);
  void setRunDims(dim blocks, dim items);
  void run() const;

 private:
  modeKernel_t *of;
};

class device {
 public:
  device(modeDevice_t *of_) : of(of_) {}
  modeDevice_t *getModeDevice() const { return of; }
  memory malloc(dim_t count, const dtype_t &type, const void *from);
  void finish();

 private:
  modeDevice_t *of;
};
}  // namespace occa

#ifdef OCCA_STAND_IN
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>

namespace stand_in {
inline void *driver(const std::string &name) {
  static void *library = dlopen(getenv("STAND_IN_DRIVER"), RTLD_NOW | RTLD_GLOBAL);
  void *found = library ? dlsym(library, name.c_str()) : nullptr;
  if (!found) std::printf("%s: %s\n", name.c_str(), dlerror()), std::exit(1);
  return found;
}
// Its arguments are numbers and addresses.
template <class... T>
void call(const char *name, T... arguments) {
  int failed = reinterpret_cast<int (*)(T...)>(driver(name))(arguments...);
  if (failed) std::printf("%s gives %d\n", name, failed), std::exit(1);
}
inline bool is_hip() { return getenv("STAND_IN_HIP") != nullptr; }
inline std::string read(const std::string &file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) std::printf("there is no %s\n", file.c_str()), std::exit(1);
  return std::string(std::istreambuf_iterator<char>(in), {});
}
}  // namespace stand_in

namespace occa {
class modeDevice_t {};
class modeMemory_t {
 public:
  std::uint64_t address;
  std::size_t bytes;
};
class modeKernel_t {
 public:
  std::string name;
  void *function;
  dim blocks{0, 0, 0}, items{0, 0, 0};
  std::vector<kernelArg::value> arguments;
};
const dtype_t dtype::byte = {1};

inline modeDevice_t &the_device() {
  static modeDevice_t one;
  return one;
}

void *memory::address() const { return reinterpret_cast<void *>(of->address); }
void memory::copyTo(void *to) const {
  device(nullptr).finish();
  if (stand_in::is_hip())
    stand_in::call("hipMemcpyDtoHAsync", to, of->address, of->bytes, nullptr);
  else
    stand_in::call("cuMemcpyDtoH_v2", to, of->address, of->bytes);
  device(nullptr).finish();
}
memory device::malloc(dim_t count, const dtype_t &type, const void *from) {
  modeMemory_t *made = new modeMemory_t{0, std::size_t(count * type.bytes)};
  const bool is_hip = stand_in::is_hip();
  stand_in::call(is_hip ? "hipMalloc" : "cuMemAlloc_v2", &made->address, made->bytes);
  stand_in::call(is_hip ? "hipMemcpyHtoD" : "cuMemcpyHtoD_v2", made->address, from, made->bytes);
  return memory(made);
}
void device::finish() {
  if (stand_in::is_hip())
    stand_in::call("hipStreamSynchronize", nullptr);
  else
    stand_in::call("cuCtxSynchronize");
}
const std::string &kernel::name() { return of->name; }
const std::string &kernel::mode() const {
  static const std::string cuda = "CUDA", hip = "HIP";
  return stand_in::is_hip() ? hip : cuda;
}
device kernel::getDevice() { return device(&the_device()); }
void kernel::clearArgs() { of->arguments.clear(); }
void kernel::pushArg(const kernelArg &one) {
  of->arguments.insert(of->arguments.end(), one.values.begin(), one.values.end());
}
void kernel::setRunDims(dim blocks, dim items) { of->blocks = blocks, of->items = items; }
// In CUDA's mode the driver gets the addresses of values, in HIP's one block of their bytes.
void kernel::run() const {
  const dim b = of->blocks, i = of->items;
  std::printf("%s: %d x %d x %d blocks of %d x %d x %d\n", of->name.c_str(), int(b.x), int(b.y), int(b.z), int(i.x),
              int(i.y), int(i.z));
  std::vector<void *> values(1);
  std::vector<char> block;
  for (const kernelArg::value &one : of->arguments) {
    values.insert(values.end() - 1, one.at);
    const char *bytes = static_cast<const char *>(one.at);
    if (one.bytes && block.size() % (one.bytes < 8 ? one.bytes : 8)) block.resize(block.size() / 8 * 8 + 8);
    block.insert(block.end(), bytes, bytes + one.bytes);
  }
  std::size_t size = block.size();
  void *extra[] = {(void *)1, block.data(), (void *)2, &size, (void *)3};
  const bool is_hip = stand_in::is_hip();
  stand_in::call(is_hip ? "hipModuleLaunchKernel" : "cuLaunchKernel", of->function, unsigned(b.x), unsigned(b.y),
                 unsigned(b.z), unsigned(i.x), unsigned(i.y), unsigned(i.z), 0u, (void *)nullptr,
                 is_hip ? nullptr : values.data(), is_hip ? extra : nullptr);
}
}  // namespace occa

// What OCCA does with a folder of its cache: `binary` is loaded, its functions are those that `build.json` has for the kernel,
// in the order of the numbers behind their names, and `launcher_binary` has one of the kernel's name.
struct loaded {
  std::vector<occa::modeKernel_t *> kernels;
  void *launcher;

  loaded(const std::string &folder, const std::string &name) {
    static void *module = nullptr;
    static const std::string code = stand_in::read(folder + "/binary");
    const bool is_hip = stand_in::is_hip();
    if (!module) {
      stand_in::call(is_hip ? "hipInit" : "cuInit", 0u);
      void *context = nullptr;
      if (is_hip)
        stand_in::call("hipSetDevice", 0);
      else
        stand_in::call("cuDevicePrimaryCtxRetain", &context, 0), stand_in::call("cuCtxSetCurrent", context);
      if (is_hip)
        stand_in::call("hipModuleLoadData", &module, code.data());
      else
        stand_in::call("cuModuleLoad", &module, (folder + "/binary").c_str());
    }
    const std::string build = stand_in::read(folder + "/build.json");
    for (int number = 0;; ++number) {
      const std::string entry = "_occa_" + name + "_" + std::to_string(number);
      if (build.find("\"name\": \"" + entry + "\"") == std::string::npos) break;
      occa::modeKernel_t *one = new occa::modeKernel_t;
      one->name = entry;
      stand_in::call(is_hip ? "hipModuleGetFunction" : "cuModuleGetFunction", &one->function, module, entry.c_str());
      kernels.push_back(one);
    }
    void *library = dlopen((folder + "/launcher_binary").c_str(), RTLD_NOW | RTLD_LOCAL);
    launcher = library ? dlsym(library, name.c_str()) : nullptr;
    if (!launcher) std::printf("%s\n", dlerror()), std::exit(1);
  }

  // The kernels, the addresses of values, and OCCA's objects for memory.
  template <class... T>
  void operator()(T *...arguments) {
    reinterpret_cast<void (*)(occa::modeKernel_t **, T *...)>(launcher)(kernels.data(), arguments...);
  }
};

template <class T>
struct on_device {
  occa::modeMemory_t of;
  explicit on_device(const std::vector<T> &from) : of{0, from.size() * sizeof(T)} {
    const occa::dtype_t type = {int(sizeof(T))};
    occa::memory made = occa::device(nullptr).malloc(from.size(), type, from.data());
    of.address = reinterpret_cast<std::uint64_t>(made.ptr<void>());
  }
  std::vector<T> here() {
    std::vector<T> to(of.bytes / sizeof(T));
    occa::memory(&of).copyTo(to.data());
    return to;
  }
};
#endif
