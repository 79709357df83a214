// Static constructors and destructors of the user run once, in order, and may use the heap.
// threads: any
#include <cstdio>
#include <map>
#include <string>
#include <vector>

static int constructed = 0;

struct Logger {
  const char *name;
  explicit Logger(const char *n) : name(n) { std::printf("construct %s %d\n", name, ++constructed); }
  ~Logger() { std::printf("destroy %s\n", name); }
};

static Logger first("first");
static std::vector<int> numbers(100, 3);
static std::map<std::string, double> table{{"pi", 3.25}, {"e", 2.75}};
std::string greeting = "a greeting that is too long for the small buffer";
static Logger second("second");
static int computed = static_cast<int>(numbers.size()) + 5;

__attribute__((constructor)) static void before_main() { constructed = 40; }
__attribute__((destructor)) static void after_main() { std::printf("after main\n"); }

int main() {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) {
    numbers[i] += i;
    sum += numbers[i] + static_cast<long>(table.at("pi") * 4) + greeting[i % greeting.size()];
  }
  std::printf("%ld %d %d\n", sum, computed, constructed);
}
