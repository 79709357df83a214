// The destructors of every thread's thread_local and threadprivate objects run when the program ends,
// after those of static objects. They see what other threads did, allocate, print, and free.
// compare: sorted
// ranks: 2 3 4
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <string>
#include <vector>

static long total, most;
static std::vector<std::string> *names;

struct Noisy {
  std::vector<int> values;
  explicit Noisy(int size) : values(size, 1) {}
  ~Noisy() {
    std::string text;
    for (int value : values) text += std::to_string(value) + ' ';
    total += (long)values.size();
    std::printf("gone: %s%s\n", text.c_str(), (*names)[0].c_str());
    std::fflush(stdout);
    if (total == most * 7) std::printf("all %ld\n", total), std::fflush(stdout);
  }
};
struct Static {
  ~Static() { std::printf("statics while %ld are left\n", total), std::fflush(stdout); }
} last;

static thread_local Noisy mine(3);
static Noisy also(4);
#pragma omp threadprivate(also)

int main() {
  most = omp_get_max_threads();
  names = new std::vector<std::string>(1, "a name that takes memory of its own");
#pragma omp parallel
  {
    mine.values[0] = 10 + omp_get_thread_num();
    also.values[1] = 20 + omp_get_thread_num();
  }
#pragma omp parallel
  if (omp_get_thread_num() < 2) mine.values.back() += 100;
  std::printf("end of main\n");
}
