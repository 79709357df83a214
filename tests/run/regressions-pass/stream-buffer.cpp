// A buffer that serial code puts in the place of std::cout's, std::cerr's or std::clog's takes the output
// of every thread, until the old one is back.
#include <iostream>
#include <sstream>
#include <string>

// Counts what passes through to another buffer.
struct Counting : std::streambuf {
  std::streambuf *next;
  long characters = 0, flushes = 0;
  explicit Counting(std::streambuf *next) : next(next) {}
  int overflow(int c) override {
    characters++;
    return next->sputc((char)c);
  }
  int sync() override {
    flushes++;
    return next->pubsync();
  }
};

static void print_in_order(std::ostream &stream, const char *what) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 8; i++) {
#pragma omp ordered
    stream << what << i << '\n';
  }
}

int main() {
  print_in_order(std::cout, "before ");
  std::ostringstream kept;
  std::streambuf *old = std::cout.rdbuf(kept.rdbuf());
  print_in_order(std::cout, "kept ");
#pragma omp parallel
  {
#pragma omp barrier
#pragma omp critical
    std::cout << "!";
  }
  std::cout.rdbuf(old);
  print_in_order(std::cout, "after ");
  std::cout << kept.str().size() << '\n' << kept.str().substr(0, 56) << '\n';

  std::streambuf *error = std::cerr.rdbuf(std::cout.rdbuf());
  print_in_order(std::cerr, "error ");
  std::cerr.rdbuf(error);

  Counting counting(std::cout.rdbuf());
  std::cout.rdbuf(&counting);
  print_in_order(std::cout, "counted ");
  std::cout.rdbuf(old);
  std::cout << counting.characters << ' ' << counting.flushes << std::endl;
}
