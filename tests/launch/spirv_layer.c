// A layer between OpenCL's loader and a driver that takes no SPIR-V, as PoCL 3.1: it has llvm-spirv make LLVM's bitcode of a
// module, which that driver takes as a program's binary. Equipment of tests: OPENCL_LAYERS names it.
//
// llvm-spirv-15 knows no OpConstantNull of numbers, so that they become constants of value 0.
//
// RUN: clang-22 -fsyntax-only -Wall -Wextra -Werror -Wno-unused-parameter %s
#define CL_TARGET_OPENCL_VERSION 210
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Of the loader's table, by number: cl_icd.h has their order, which stays.
enum { DEVICE_INFO = 3, WITH_BINARY = 27, WITH_IL = 138, COUNT = 139 };
enum { IL_VERSION = 0x105B, API_VERSION = 0x4240, NAME = 0x4241, INVALID_VALUE = -30 };

typedef int32_t (*DeviceInfo)(void *, uint32_t, size_t, void *, size_t *);
typedef void *(*WithBinary)(void *, uint32_t, void *const *, const size_t *, const unsigned char **, int32_t *, int32_t *);
typedef int32_t (*ContextInfo)(void *, uint32_t, size_t, void *, size_t *);
enum { CONTEXT_INFO = 8, CONTEXT_DEVICES = 0x1081 };

static void *const *target;
static void *table[COUNT];

static void *read_all(const char *name, size_t *size) {
  FILE *file = fopen(name, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  void *all = malloc(*size + 1);
  if (fread(all, 1, *size, file) != *size) abort();
  fclose(file);
  return all;
}

// OpConstantNull (46) of OpTypeInt (21) or OpTypeFloat (22) becomes OpConstant (43).
static uint32_t *constants(const uint32_t *words, size_t count, size_t *result) {
  uint32_t *to = malloc(2 * count * sizeof *to), *widths = calloc(words[3], sizeof *widths);
  size_t at = 5, end = 5;
  memcpy(to, words, 5 * sizeof *to);
  while (at < count) {
    uint32_t length = words[at] >> 16, code = words[at] & 0xffff;
    memcpy(to + end, words + at, length * sizeof *to);
    if (code == 21 || code == 22) widths[words[at + 1]] = words[at + 2];
    end += length;
    if (code == 46 && widths[words[at + 1]]) {
      uint32_t more = widths[words[at + 1]] > 32 ? 2 : 1;
      to[end - length] = (3 + more) << 16 | 43;
      for (uint32_t i = 0; i < more; i++) to[end++] = 0;
    }
    at += length;
  }
  free(widths);
  *result = end;
  return to;
}

static void *with_il(void *context, const void *il, size_t length, int32_t *status) {
  char folder[] = "/tmp/okl-spirv-XXXXXX", spv[64], bc[64], command[512];
  size_t count, size = 0;
  uint32_t *words = constants(il, length / 4, &count);
  void *device = NULL, *binary = NULL, *program = NULL;
  int32_t wrong = INVALID_VALUE;
  if (mkdtemp(folder)) {
    snprintf(spv, sizeof spv, "%s/a.spv", folder);
    snprintf(bc, sizeof bc, "%s/a.bc", folder);
    FILE *file = fopen(spv, "wb");
    if (file && fwrite(words, 4, count, file) == count && fclose(file) == 0) {
      snprintf(command, sizeof command, "llvm-spirv-15 -r --spirv-target-env=CL1.2 %s -o %s >&2", spv, bc);
      if (system(command) == 0) binary = read_all(bc, &size);
    }
    unlink(spv);
    unlink(bc);
    rmdir(folder);
  }
  free(words);
  ((ContextInfo)target[CONTEXT_INFO])(context, CONTEXT_DEVICES, sizeof device, &device, NULL);
  if (binary) {
    const unsigned char *code = binary;
    program = ((WithBinary)target[WITH_BINARY])(context, 1, &device, &size, &code, NULL, &wrong);
    free(binary);
  }
  if (status) *status = wrong;
  return program;
}

static int32_t device_info(void *device, uint32_t which, size_t size, void *value, size_t *needs) {
  static const char version[] = "SPIR-V_1.2";
  if (which != IL_VERSION) return ((DeviceInfo)target[DEVICE_INFO])(device, which, size, value, needs);
  if (needs) *needs = sizeof version;
  if (value && size < sizeof version) return INVALID_VALUE;
  if (value) memcpy(value, version, sizeof version);
  return 0;
}

int32_t clGetLayerInfo(uint32_t which, size_t size, void *value, size_t *needs) {
  const uint32_t version = 100;
  static const char name[] = "okl SPIR-V for drivers that take none";
  const void *what = which == API_VERSION ? (const void *)&version : name;
  size_t bytes = which == API_VERSION ? sizeof version : sizeof name;
  if (which != API_VERSION && which != NAME) return INVALID_VALUE;
  if (needs) *needs = bytes;
  if (value && size < bytes) return INVALID_VALUE;
  if (value) memcpy(value, what, bytes);
  return 0;
}

int32_t clInitLayer(uint32_t count, void *const *next, uint32_t *own_count, void *const **own) {
  if (count < COUNT) return INVALID_VALUE;
  target = next;
  table[DEVICE_INFO] = (void *)device_info;
  table[WITH_IL] = (void *)with_il;
  *own_count = COUNT;
  *own = table;
  return 0;
}
