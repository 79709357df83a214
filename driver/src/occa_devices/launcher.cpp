// What OCCA's run time for devices loads along with the code of kernels (`launcher_binary`): the C++ of an OKL file counts
// blocks and work items and calls what launches a kernel, which is defined here by OCCA's own classes. The driver compiles
// it with the file, and OCCA's headers.
//
// Guarantee: a kernel gets what okl's own run time would pass to it, or the program ends with a message.
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include <occa/core/device.hpp>
#include <occa/core/kernel.hpp>
#include <occa/core/memory.hpp>
#include <occa/dtype.hpp>

namespace {

// What the driver puts here: `okl_abi::gpu` in C++.
OKL_ABI
enum { EX_SOFTWARE = 70 };

// How many blocks there may be in the second and third direction.
const int64_t MOST = 65535;

// Those of the kernel that the thread is in.
thread_local occa::modeKernel_t **kernels;

[[noreturn]] void fail(const DeviceKernel &kernel, const std::string &why) {
  std::fprintf(stderr, "okl: %s: kernel %s: %s\n", kernel.place, kernel.name, why.c_str());
  std::fflush(nullptr);
  _exit(EX_SOFTWARE);
}

// OCCA has as many as its metadata names, the one that is looked for among them.
occa::kernel found(const DeviceKernel &kernel) {
  for (occa::modeKernel_t **at = kernels;; ++at) {
    occa::kernel one(*at);
    if (one.name() == kernel.entry) return one;
  }
}

// The words that a kernel is given, on a device. They stay: kernels may still run when this library is left. Threads of the
// host may launch at the same time.
struct Words {
  occa::memory lock, items;
};

occa::memory &word(occa::device device, bool is_lock) {
  static std::map<occa::modeDevice_t *, Words> &known = *new std::map<occa::modeDevice_t *, Words>;
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> locked(one_at_a_time);
  Words &words = known[device.getModeDevice()];
  occa::memory &word = is_lock ? words.lock : words.items;
  const int zero = 0;
  if (!word.isInitialized()) word = device.malloc(sizeof zero, occa::dtype::byte, &zero);
  return word;
}

// Values, each at an address that stays, and those of a kernel's parameters in their order.
struct Passed {
  const DeviceKernel &kernel;
  std::deque<uint64_t> kept;
  std::vector<void *> values;

  void keep(uint64_t value) {
    kept.push_back(value);
    values.push_back(&kept.back());
  }

  // OCCA's modes but that of HIP get the address of each value.
  void push_to(occa::kernel &to) {
    for (size_t at = 0; at < values.size(); ++at) {
      occa::kernelArg argument;
      argument.addPointer(values[at], kernel.parameters[at].size);
      to.pushArg(argument);
    }
  }

  // There all is one block of bytes, in which what is aligned to no more than its size lies as the compiler has it.
  std::vector<char> block() {
    std::vector<char> bytes;
    for (size_t at = 0; at < values.size(); ++at) {
      const size_t size = kernel.parameters[at].size;
      // An object's alignment divides its size.
      const size_t most = size & -size;
      const size_t align = most < 16 ? most : 16;
      const bool is_plain = size == 1 || size == 2 || size == 4 || size == 8;
      if (!is_plain && bytes.size() % align)
        fail(kernel, "where its argument " + std::to_string(at + 1) + " of " + std::to_string(size) +
                         " bytes lies is not known: put it in front of smaller ones");
      bytes.resize((bytes.size() + align - 1) / align * align);
      const char *value = static_cast<const char *>(values[at]);
      bytes.insert(bytes.end(), value, value + size);
    }
    return bytes;
  }
};

void run(const DeviceKernel &kernel, occa::kernel &one, const int64_t first[3], const int64_t blocks[3],
         const int64_t items[3], void **arguments) {
  Passed passed{kernel, {}, {}};
  for (int64_t at = 0; at < kernel.parameter_count; ++at) {
    const int64_t kind = kernel.parameters[at].kind;
    if (kind & OF_LIBRARY & ~(LOCK | ITEMS | FIRST_Y | FIRST_Z)) {
      fail(kernel, "OCCA cannot launch it");
    } else if (kind & (LOCK | ITEMS)) {
      passed.keep(reinterpret_cast<uint64_t>(word(one.getDevice(), kind & LOCK).ptr<void>()));
    } else if (kind & (FIRST_Y | FIRST_Z)) {
      passed.keep(static_cast<uint64_t>(first[kind & FIRST_Y ? 1 : 2]));
    } else {
      void *address = nullptr;
      Dl_info of;
      if (kind & ADDRESS) std::memcpy(&address, arguments[at], sizeof address);
      if (address && dladdr(address, &of))
        fail(kernel, "it uses a variable of the program, which OCCA's devices do not have: make it an argument");
      passed.values.push_back(arguments[at]);
    }
  }
  one.clearArgs();
  std::vector<char> block;
  if (one.mode() == "HIP") {
    block = passed.block();
    occa::kernelArg all;
    if (!block.empty()) all.addPointer(block.data(), block.size());
    one.pushArg(all);
  } else {
    passed.push_to(one);
  }
  one.setRunDims(occa::dim(blocks[0], blocks[1], blocks[2]), occa::dim(items[0], items[1], items[2]));
  one.run();
}

}  // namespace

extern "C" {

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN void okl_occa_begin(void *of) { kernels = static_cast<occa::modeKernel_t **>(of); }

HIDDEN void *okl_occa_pointer(void *of) {
  return of ? occa::memory(static_cast<occa::modeMemory_t *>(of)).ptr<void>() : nullptr;
}

HIDDEN int OKL_LAUNCH(const DeviceKernel *kernel, const int64_t *blocks, const int64_t *items,
                                 void **arguments, int) {
  if (kernel->shared)
    fail(*kernel, "its blocks share " + std::to_string(kernel->shared) + " bytes, and OCCA gives none when it launches");
  int64_t most[3] = {INT_MAX, INT_MAX, INT_MAX};
  bool counts_items = false;
  for (int64_t at = 0; at < kernel->parameter_count; ++at) {
    const int64_t kind = kernel->parameters[at].kind;
    if (kind & FIRST_Y) most[1] = MOST;
    if (kind & FIRST_Z) most[2] = MOST;
    if (kind & ITEMS) counts_items = true;
    if (kind & RESULTS) fail(*kernel, "OCCA cannot launch it");
  }
  if (blocks[0] > INT_MAX) fail(*kernel, "it has too many blocks");
  occa::kernel one = found(*kernel);
  int64_t first[3] = {0, 0, 0};
  for (; first[2] < blocks[2]; first[2] += most[2])
    for (first[1] = 0; first[1] < blocks[1]; first[1] += most[1]) {
      int64_t part[3] = {blocks[0], blocks[1] - first[1], blocks[2] - first[2]};
      for (int at = 1; at < 3; ++at)
        if (part[at] > most[at]) part[at] = most[at];
      run(*kernel, one, first, part, items, arguments);
    }
  if (counts_items) {
    int wanted = 0;
    word(one.getDevice(), false).copyTo(&wanted);
    if (wanted)
      fail(*kernel, "a loop over work items has " + std::to_string(wanted) +
                        " iterations, and its blocks have less work items: use smaller blocks, or say with "
                        "@max_inner_dims how they lie");
  }
  if (kernel->does & PRINTS) one.getDevice().finish();
  return 1;
}
}
