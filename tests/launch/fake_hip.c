// AMD's driver that is none, libamdhip64.so for tests: it refuses what a driver would refuse, does late what may be done late,
// and has functions of the program, its twins, run in the place of kernels. Memory of the device is open in copies and in
// kernels, and nowhere else.
//
// FAKE_HIP: the processor, or else what is wrong: none, full, faults.
//
// RUN: clang-22 -fsyntax-only -Wall -Wextra -Werror -Wno-unused-parameter %s
#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { INVALID = 1, MEMORY = 2, NOT_STARTED = 3, NO_DEVICE = 100, NO_CONTEXT = 101, NO_BINARY = 209, NOT_FOUND = 500, FAULT = 700 };
typedef int (*Twin)(const char *entry, const unsigned *blocks, const unsigned *items, void **arguments);

static const char *said(void) {
  const char *text = getenv("FAKE_HIP");
  return text ? text : "gfx942";
}
static int is(const char *what) { return strcmp(said(), what) == 0; }

static int started, entered = -1, failed;
static struct Block {
  char *start;
  size_t bytes;
} blocks[1024];
static struct Launch {
  const char *entry;
  unsigned sizes[6];
  void *arguments[16];
  uint64_t values[16];
} queue[64];
static int queued;

static void open_memory(int open) {
  for (int i = 0; i < 1024; i++)
    if (blocks[i].start) mprotect(blocks[i].start, blocks[i].bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}
static int holds(uint64_t address, size_t bytes) {
  for (int i = 0; i < 1024; i++)
    if (blocks[i].start && address >= (uint64_t)blocks[i].start && address + bytes <= (uint64_t)blocks[i].start + blocks[i].bytes)
      return 1;
  return 0;
}
static int ready(void) { return !started ? NOT_STARTED : entered != 0 ? NO_CONTEXT : failed; }

static int finish(void) {
  Twin twin = (Twin)dlsym(RTLD_DEFAULT, "okl_twin");
  open_memory(1);
  for (int i = 0; i < queued && !failed; i++)
    failed = is("faults") ? FAULT : twin ? twin(queue[i].entry, queue[i].sizes, queue[i].sizes + 3, queue[i].arguments) : NOT_FOUND;
  open_memory(0);
  queued = 0;
  return failed;
}

int hipInit(unsigned flags) { return flags ? INVALID : is("none") ? NO_DEVICE : (started = 1, 0); }
int hipDriverGetVersion(int *version) { return *version = 60342134, 0; }
int hipGetDeviceCount(int *count) { return !started ? NOT_STARTED : (*count = 1, 0); }
int hipDeviceGet(int *device, int number) { return number ? NO_CONTEXT : (*device = 0, 0); }
int hipDeviceGetName(char *name, int length, int device) { return snprintf(name, length, "Fake GPU %d", device), 0; }
int hipDeviceGetAttribute(int *value, int which, int device) {
  static const int known[][2] = {{56, 1024}, {26, 1024}, {27, 1024}, {28, 1024}, {29, 2147483647}, {30, 65536}, {31, 65536}};
  for (int i = 0; i < 7; i++)
    if (known[i][0] == which && !device) return *value = known[i][1], 0;
  return INVALID;
}
int hipGetDevicePropertiesR0600(char *properties, int device) {
  memset(properties, 0x11, 1472);
  const char *name = said();
  sprintf(properties + 1160, "%s:sramecc+:xnack-", strncmp(name, "gfx", 3) ? "gfx942" : name);
  return device ? NO_CONTEXT : 0;
}
int hipSetDevice(int device) { return !started ? NOT_STARTED : device ? NO_CONTEXT : (entered = 0, 0); }
int hipStreamCreateWithFlags(void **stream, unsigned flags) { return flags ? INVALID : (*stream = blocks, ready()); }
int hipStreamSynchronize(void *stream) { return stream != blocks ? INVALID : ready() ? ready() : finish(); }
int hipMalloc(void **address, size_t bytes) {
  if (ready()) return ready();
  if (is("full")) return MEMORY;
  for (int i = 0; i < 1024; i++)
    if (!blocks[i].start) {
      blocks[i].start = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      blocks[i].bytes = bytes;
      return *address = blocks[i].start, 0;
    }
  return MEMORY;
}
int hipFree(void *address) {
  int wrong = ready() ? ready() : finish();
  for (int i = 0; i < 1024 && !wrong; i++)
    if (blocks[i].start == address) return munmap(address, blocks[i].bytes), blocks[i].start = NULL, 0;
  return wrong ? wrong : INVALID;
}
static int move(void *to, const void *from, size_t bytes, uint64_t device) {
  int wrong = ready() ? ready() : finish();
  if (wrong) return wrong;
  if (!holds(device, bytes)) return INVALID;
  open_memory(1);
  memmove(to, from, bytes);
  open_memory(0);
  return 0;
}
int hipMemcpyHtoD(void *to, void *from, size_t bytes) { return move(to, from, bytes, (uint64_t)to); }
int hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, void *stream) {
  return stream != blocks ? INVALID : move(to, from, bytes, (uint64_t)from);
}
int hipMemcpyDtoDAsync(void *to, void *from, size_t bytes, void *stream) {
  return stream != blocks || !holds((uint64_t)to, bytes) ? INVALID : move(to, from, bytes, (uint64_t)from);
}

// The code object's symbols; it has those of kernels, and .kd behind the name what describes one.
static int has(const char *image, const char *name) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const Elf64_Sym *symbols = (const Elf64_Sym *)(image + sections[i].sh_offset);
    const char *names = image + sections[sections[i].sh_link].sh_offset;
    for (size_t at = 0; at < sections[i].sh_size / sizeof *symbols; at++)
      if (strcmp(names + symbols[at].st_name, name) == 0) return symbols[at].st_size == 64;
  }
  return 0;
}
int hipModuleLoadData(void **module, const void *image) {
  const Elf64_Ehdr *header = image;
  // EM_AMDGPU, and what stands in e_flags for the processor.
  if (ready()) return ready();
  if (memcmp(image, ELFMAG, SELFMAG) || header->e_machine != 224 || header->e_type != ET_DYN) return 200;
  if ((header->e_flags & 0xff) != (is("gfx90a") ? 0x3f : is("gfx1100") ? 0x41 : 0x4c)) return NO_BINARY;
  return *module = (void *)image, 0;
}
int hipModuleGetFunction(void **function, void *module, const char *name) {
  char described[256];
  snprintf(described, sizeof described, "%s.kd", name);
  return has(module, described) ? (*function = strdup(name), 0) : NOT_FOUND;
}
int hipFuncGetAttribute(int *value, int which, void *function) { return which || !function ? INVALID : (*value = 256, 0); }
int hipModuleLaunchKernel(void *function, unsigned bx, unsigned by, unsigned bz, unsigned ix, unsigned iy, unsigned iz,
                          unsigned shared, void *stream, void **arguments, void **extra) {
  if (ready()) return ready();
  if (shared || stream != blocks || extra || ix * iy * iz > 256 || !(bx * by * bz)) return INVALID;
  struct Launch *one = &queue[queued++];
  one->entry = function;
  memcpy(one->sizes, (unsigned[]){bx, by, bz, ix, iy, iz}, sizeof one->sizes);
  // What it is passed may change when this returns. The twins' parameters have at most 8 bytes.
  for (int i = 0; i < 4; i++) {
    one->arguments[i] = memcpy(&one->values[i], arguments[i], 8);
  }
  return queued == 64 ? finish() : 0;
}
int hipEventCreateWithFlags(void **event, unsigned flags) { return flags ? INVALID : (*event = &queued, ready()); }
int hipEventRecord(void *event, void *stream) { return event != &queued || stream != blocks ? INVALID : ready(); }
int hipEventElapsedTime(float *time, void *start, void *end) { return start != end || queued ? 600 : (*time = 0.5f, 0); }
const char *hipGetErrorName(int error) {
  return error == MEMORY ? "hipErrorOutOfMemory" : error == NO_DEVICE ? "hipErrorNoDevice" : error == FAULT ? "hipErrorIllegalAddress" : "hipErrorOther";
}
const char *hipGetErrorString(int error) { return error == MEMORY ? "out of memory" : error == NO_DEVICE ? "no ROCm-capable device is detected" : "an error"; }
