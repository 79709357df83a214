// The kernels of kernels.cu behind the functions of kernels.h: compiled by NVIDIA's run-time compiler, started by the functions
// of CUDA's driver. Both libraries are loaded by their paths, in NVRTC and CUDA_DRIVER; KERNELS names the source, ARCHITECTURE
// what it is compiled for (compute_70), and PTX the file that gets the text that it becomes.

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kernels.h"

namespace {

[[noreturn]] void end(const std::string &why) {
  fprintf(stderr, "rival: %s\n", why.c_str());
  exit(1);
}

std::string variable(const char *name) {
  const char *value = getenv(name);
  if (!value) end(std::string(name) + " is not set");
  return value;
}

void *library(const char *name) {
  void *loaded = dlopen(variable(name).c_str(), RTLD_NOW);
  if (!loaded) end(dlerror());
  return loaded;
}

// Calls a function of a library, which returns 0 where all went well.
template <typename... T> void call(void *library, const char *name, T... arguments) {
  auto *function = reinterpret_cast<int (*)(T...)>(dlsym(library, name));
  if (!function) end(std::string("no function ") + name);
  if (int error = function(arguments...)) end(std::string(name) + ": error " + std::to_string(error));
}

using Address = unsigned long long;

struct Device {
  void *driver = library("CUDA_DRIVER");
  void *module = nullptr;

  Device() {
    const std::string ptx = compile();
    std::ofstream(variable("PTX")) << ptx.c_str();
    void *context = nullptr;
    call(driver, "cuInit", 0u);
    call(driver, "cuDevicePrimaryCtxRetain", &context, 0);
    call(driver, "cuCtxSetCurrent", context);
    call(driver, "cuModuleLoadData", &module, static_cast<const void *>(ptx.c_str()));
  }

  ~Device() { call(driver, "cuDevicePrimaryCtxRelease_v2", 0); }

  static std::string compile() {
    void *nvrtc = library("NVRTC");
    std::ifstream file(variable("KERNELS"));
    const std::string source((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    void *program = nullptr;
    call(nvrtc, "nvrtcCreateProgram", &program, source.c_str(), "kernels.cu", 0, static_cast<const char *const *>(nullptr),
         static_cast<const char *const *>(nullptr));
    const std::string architecture = "--gpu-architecture=" + variable("ARCHITECTURE");
    const char *options[] = {architecture.c_str()};
    call(nvrtc, "nvrtcCompileProgram", program, 1, static_cast<const char *const *>(options));
    size_t size = 0;
    call(nvrtc, "nvrtcGetPTXSize", program, &size);
    std::string ptx(size, '\0');
    call(nvrtc, "nvrtcGetPTX", program, ptx.data());
    return ptx;
  }
};

Device &device() {
  static Device one;
  return one;
}

// An array that the device has, too, for as long as a kernel runs.
struct Copy {
  const void *host;
  void *result;
  size_t bytes;
  Address at = 0;

  template <typename T> Copy(const T *host, size_t count) : host(host), result(nullptr), bytes(count * sizeof(T)) {
    call(device().driver, "cuMemAlloc_v2", &at, bytes);
    call(device().driver, "cuMemcpyHtoD_v2", at, this->host, bytes);
  }
  template <typename T> Copy(T *host, size_t count) : Copy(static_cast<const T *>(host), count) { result = host; }
  ~Copy() {
    if (result) call(device().driver, "cuMemcpyDtoH_v2", result, at, bytes);
    call(device().driver, "cuMemFree_v2", at);
  }
};

template <typename T> void *argument(T &value) { return const_cast<void *>(static_cast<const void *>(&value)); }
void *argument(Copy &copy) { return &copy.at; }

struct Extent {
  unsigned x, y = 1, z = 1;
};

template <typename... T> void launch(const char *name, Extent blocks, Extent threads, T &...arguments) {
  void *kernel = nullptr;
  call(device().driver, "cuModuleGetFunction", &kernel, device().module, name);
  void *all[] = {argument(arguments)...};
  void *none = nullptr;
  call(device().driver, "cuLaunchKernel", kernel, blocks.x, blocks.y, blocks.z, threads.x, threads.y, 1u, 0u, none,
       static_cast<void **>(all), static_cast<void **>(nullptr));
  call(device().driver, "cuCtxSynchronize");
}

unsigned blocks(int n, int each) { return unsigned((n + each - 1) / each); }

// Of kernels whose threads go through all numbers.
unsigned few_blocks(int n, int each) { return blocks(n, each) < 256 ? blocks(n, each) : 256; }

} // namespace

void saxpy(const int n, const float a, const float *x, float *y) {
  Copy dx(x, n), dy(y, n);
  launch("saxpy", {blocks(n, 256)}, {256}, n, a, dx, dy);
}

void stencil(const int n, const float *u, float *v) {
  const size_t all = size_t(n + 2) * (n + 2);
  Copy du(u, all), dv(v, all);
  launch("stencil", {blocks(n, 16), blocks(n, 16)}, {16, 16}, n, du, dv);
}

void reduction(const int n, const float *a, float *sums) {
  Copy da(a, n), dsums(sums, blocks(n, 256));
  launch("reduction", {blocks(n, 256)}, {256}, n, da, dsums);
}

void product(const int n, const float *a, const float *b, float *c) {
  const size_t all = size_t(n) * n;
  Copy da(a, all), db(b, all), dc(c, all);
  launch("product", {blocks(n, 16), blocks(n, 16)}, {16, 16}, n, da, db, dc);
}

void edges(const int n, const int *ends, const double *value, double *sums) {
  int most = 0;
  for (int at = 0; at < 2 * n; ++at) most = ends[at] > most ? ends[at] : most;
  Copy dends(ends, 2 * n), dvalue(value, most + 1), dsums(sums, most + 1);
  launch("edges", {blocks(n, 256)}, {256}, n, dends, dvalue, dsums);
}

void polynomial(const int n, const double *x, double *y) {
  Copy dx(x, n), dy(y, n);
  launch("polynomial", {blocks(n, 256)}, {256}, n, dx, dy);
}

void functions(const int n, const double *x, double *y) {
  Copy dx(x, n), dy(y, n);
  launch("functions", {blocks(n, 256)}, {256}, n, dx, dy);
}

void transpose(const int n, const float *a, float *b) {
  const size_t all = size_t(n) * n;
  Copy da(a, all), db(b, all);
  launch("transpose", {blocks(n, 32), blocks(n, 32)}, {32, 8}, n, da, db);
}

void sparse(const int rows, const int *first, const int *column, const double *value, const double *x, double *y) {
  Copy dfirst(first, rows + 1), dcolumn(column, first[rows]), dvalue(value, first[rows]), dx(x, rows), dy(y, rows);
  launch("sparse", {blocks(rows, 256)}, {256}, rows, dfirst, dcolumn, dvalue, dx, dy);
}

void wave(const int n, const float c, const float *now, float *next) {
  const size_t all = size_t(n + 2) * (n + 2) * 34;
  Copy dnow(now, all), dnext(next, all);
  launch("wave", {blocks(n, 8), unsigned(n)}, {32, 8}, n, c, dnow, dnext);
}

void sweep(const int n, const double *now, double *next) {
  const size_t all = size_t(n + 2) * (n + 2);
  Copy dnow(now, all), dnext(next, all);
  launch("sweep", {blocks(n, 32), blocks(n, 8)}, {32, 8}, n, dnow, dnext);
}

double distance(const int n, const double *now, const double *next) {
  double result = 0.0;
  {
    Copy dnow(now, n), dnext(next, n), dresult(&result, 1);
    launch("distance", {few_blocks(n, 256)}, {256}, n, dnow, dnext, dresult);
  }
  return result;
}

void rows(const int n, const double *now, double *next) {
  const size_t all = size_t(n + 2) * (n + 2);
  Copy dnow(now, all), dnext(next, all);
  launch("rows", {blocks(n, 32), blocks(n, 8)}, {32, 8}, n, dnow, dnext);
}

void cube(const int n, const double *now, double *next) {
  const size_t all = size_t(n + 2) * (n + 2) * (n + 2);
  Copy dnow(now, all), dnext(next, all);
  launch("cube", {blocks(n, 32), blocks(n, 8), unsigned(n)}, {32, 8}, n, dnow, dnext);
}

Moments moments(const int n, const double *x, const double *y) {
  double results[3] = {};
  {
    Copy dx(x, n), dy(y, n), dresults(results, 3);
    launch("moments", {few_blocks(n, 256)}, {256}, n, dx, dy, dresults);
  }
  return {results[0], results[1], results[2]};
}

Extremes extremes(const int n, const double *x) {
  std::vector<double> results(2 * few_blocks(n, 256));
  {
    Copy dx(x, n), dresults(results.data(), results.size());
    launch("extremes", {few_blocks(n, 256)}, {256}, n, dx, dresults);
  }
  Extremes all{results[0], results[1]};
  for (size_t at = 0; at < results.size(); at += 2) {
    all.least = results[at] < all.least ? results[at] : all.least;
    all.most = results[at + 1] > all.most ? results[at + 1] : all.most;
  }
  return all;
}

void axpy(const int n, const double a, const double *x, double *y) {
  Copy dx(x, n), dy(y, n);
  launch("axpy", {blocks(n, 256)}, {256}, n, a, dx, dy);
}

void multiply(const int rows, const int *first, const int *column, const double *value, const double *x, double *y) {
  Copy dfirst(first, rows + 1), dcolumn(column, first[rows]), dvalue(value, first[rows]), dx(x, rows), dy(y, rows);
  launch("multiply", {blocks(rows, 256)}, {256}, rows, dfirst, dcolumn, dvalue, dx, dy);
}

void histogram(const int n, const int *of, int *count) {
  int most = 0;
  for (int at = 0; at < n; ++at) most = of[at] > most ? of[at] : most;
  Copy dof(of, n), dcount(count, most + 1);
  launch("histogram", {blocks(n, 256)}, {256}, n, dof, dcount);
}
