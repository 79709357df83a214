// A function-local static is destroyed once, at the end of the program, whichever thread initialised it.
// threads: any
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Table {
  std::vector<int> values;
  int number;
  explicit Table(int number) : values(number, number), number(number) {}
  ~Table() {
    long sum = 0;
    for (int value : values) sum += value;
    std::printf("%d destroyed: %ld\n", number, sum);
  }
};

static Table &in_serial_code() {
  static Table table(200);
  return table;
}

static Table &in_last_iteration() {
  static Table table(100);
  return table;
}

static Table &in_first_iteration() {
  static Table table(300);
  return table;
}

static void at_exit() { std::printf("at exit: %d\n", in_last_iteration().number); }

int main() {
  long sum = in_serial_code().values[3];
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < 40; i++)
    if (i == 39) sum += in_last_iteration().number;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < 40; i++)
    if (i == 0) sum += in_first_iteration().number;
#pragma omp parallel for
  for (int i = 0; i < 100; i++) in_last_iteration().values[i] += i;
  std::atexit(at_exit);
  std::printf("%ld\n", sum);
}
