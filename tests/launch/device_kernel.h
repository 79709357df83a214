// y += a * x as a kernel for devices, as the compiler would describe it.
#include <stdint.h>

struct Image {
  int64_t form;
  const char *processor;
  const void *code;
  int64_t size, adds;
};
struct Parameter {
  int64_t kind, size;
};
struct Kernel {
  const char *name, *place, *entry;
  const struct Image *images;
  int64_t image_count;
  const struct Parameter *parameters;
  int64_t parameter_count, most_items, shared, does;
  const int64_t *sections;
  int64_t section_count;
  const void *const *codes;
  int64_t state;
};
#ifdef __cplusplus
extern "C"
#endif
    int32_t
    okl_gpu_launch_v6(void *kernel, void *blocks, void *items, void *arguments, int32_t has_processor);

#ifndef PTX
#define PTX                                                                                       \
  ".version 7.0\n.target sm_70\n.address_size 64\n"                                               \
  ".visible .entry saxpy(.param .u32 n, .param .f64 a, .param .u64 x, .param .u64 y)\n{\n"        \
  ".reg .pred %p<2>; .reg .b32 %r<6>; .reg .f64 %fd<5>; .reg .b64 %rd<8>;\n"                      \
  "ld.param.u32 %r1, [n];\nld.param.f64 %fd1, [a];\n"                                             \
  "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\n"                                            \
  "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"                         \
  "mad.lo.s32 %r5, %r2, %r3, %r4;\nsetp.ge.s32 %p1, %r5, %r1;\n@%p1 bra $end;\n"                  \
  "cvta.to.global.u64 %rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\n"                              \
  "mul.wide.s32 %rd5, %r5, 8;\nadd.s64 %rd6, %rd3, %rd5;\nadd.s64 %rd7, %rd4, %rd5;\n"            \
  "ld.global.f64 %fd2, [%rd6];\nld.global.f64 %fd3, [%rd7];\nfma.rn.f64 %fd4, %fd1, %fd2, %fd3;\n" \
  "st.global.f64 [%rd7], %fd4;\n$end:\nret;\n}\n"
#endif

static const char ptx[] = PTX;
static const struct Image image = {1, "sm_70", ptx, sizeof ptx - 1, 0};
static const struct Parameter parameters[] = {{0, 4}, {0, 8}, {3, 8}, {7, 8}};
static struct Kernel kernel = {"saxpy", "saxpy.okl:1", "saxpy", &image, 1, parameters, 4, 0, 0, 0, 0, 0, 0, 0};

// Items beyond n do nothing.
static int launch(int n, double a, const double *x, double *y, int items_of_block, int has_processor) {
  int64_t blocks[3] = {(n + items_of_block - 1) / items_of_block, 1, 1}, items[3] = {items_of_block, 1, 1};
  void *arguments[] = {&n, &a, &x, &y};
  return okl_gpu_launch_v6(&kernel, blocks, items, arguments, has_processor);
}
