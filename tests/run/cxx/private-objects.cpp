// private, firstprivate and lastprivate objects of classes with constructors and destructors.
// threads: any
#include <cstdio>
#include <string>
#include <vector>

static int alive = 0;

struct Object {
  std::vector<int> data;
  std::string label = "default label, long enough for the heap";
  Object() : data(3, 1) { count(1); }
  Object(const Object &o) : data(o.data), label(o.label) { count(1); }
  Object &operator=(const Object &) = default;
  ~Object() { count(-1); }
  static void count(int by) {
#pragma omp atomic
    alive += by;
  }
};

int main() {
  Object a, b, c;
  b.data[1] = 50;
  b.label = "copied into every thread, also on the heap";
  long out[80];
#pragma omp parallel private(a) firstprivate(b)
  {
    a.data.push_back(7);
    b.data.push_back(9);
#pragma omp for lastprivate(c)
    for (int i = 0; i < 80; i++) {
      c.data[0] = i;
      c.label = "iteration " + std::to_string(i);
      out[i] = a.data[3] + b.data[1] + b.data[3] + static_cast<long>(b.label.size()) + i;
    }
  }
  long sum = 0;
  for (long value : out) sum += value;
  std::printf("%ld %zu %zu %d %s %d\n", sum, a.data.size(), b.data.size(), c.data[0],
              c.label.c_str(), alive);
}
