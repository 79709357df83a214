// Exceptions thrown and caught inside iterations, through several frames, with cleanup.
// threads: any
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct Guard {
  int &count;
  explicit Guard(int &c) : count(c) {}
  ~Guard() { count++; }
};

struct Odd : std::runtime_error {
  int value;
  explicit Odd(int v) : std::runtime_error("odd " + std::to_string(v)), value(v) {}
};

static int check(int i, int depth, int &unwound) {
  Guard guard(unwound);
  if (depth == 0) {
    if (i % 2) throw Odd(i);
    if (i % 10 == 4) throw i;
    return i;
  }
  return check(i, depth - 1, unwound);
}

int main() {
  std::vector<std::string> messages(100);
  int odd = 0, plain = 0, unwound = 0, out_of_range = 0;
#pragma omp parallel for reduction(+ : odd, plain, unwound, out_of_range)
  for (int i = 0; i < 100; i++) {
    try {
      check(i, 5, unwound);
      messages.at(static_cast<std::size_t>(i) * 2) += "x";
    } catch (const Odd &error) {
      odd += error.value;
      messages[i] = error.what();
    } catch (int value) {
      plain += value;
    } catch (const std::out_of_range &) {
      out_of_range++;
    }
  }
  std::size_t length = 0;
  for (auto &message : messages) length += message.size();
  std::printf("%d %d %d %d %zu\n", odd, plain, unwound, out_of_range, length);
}
