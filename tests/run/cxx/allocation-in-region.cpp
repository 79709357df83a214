// Objects made in a region, whose constructors may throw; where exceptions are handled, code declares what it accesses.
// ranks: 2 3
#include <omp.h>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

static int made[64];

struct Thing {
  std::string text;
  std::vector<int> numbers;
  Thing() : text(100, 'x'), numbers(50, 2) { made[omp_get_thread_num()]++; }
  ~Thing() { made[omp_get_thread_num()] += 100; }
};

static thread_local Thing own;
static thread_local std::unique_ptr<Thing> allocated;

int main() {
  long bad = 0;
  int threads = 0;
  for (unsigned round = 0; round < 3; round++) {
#pragma omp parallel reduction(+ : bad)
    {
      own.text += "y";
      own.numbers.push_back(1);
      bad += own.text.size() != 101 + round;
      if (!allocated) allocated.reset(new Thing);
      allocated->numbers.push_back(1);
      bad += allocated->numbers.size() != 51 + round;
#pragma omp single
      threads = omp_get_num_threads();
    }
  }
  for (int thread = 0; thread < threads; thread++) bad += made[thread] != 2;
  std::printf("%ld\n", bad);
}
