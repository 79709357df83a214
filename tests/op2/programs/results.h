// What a program has computed, kept in a file, or compared with what is in such a file.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static std::vector<double> results;

// Adds all values of `dat`, in the program's order.
static void keep(op_dat dat) {
  size_t const before = results.size();
  results.resize(before + (size_t)dat->set->size * dat->dim);
  op_fetch_data(dat, results.data() + before);
}

// PROGRAM write FILE: keeps the results there. PROGRAM compare FILE: says whether they differ by no more than
// `tolerance`. Returns the status to exit with.
static int finish(int argc, char **argv, double tolerance) {
  bool const compares = argc > 2 && !strcmp(argv[1], "compare");
  if (argc < 3 || !op_is_root())
    return 0;
  FILE *file = fopen(argv[2], compares ? "rb" : "wb");
  if (!file)
    return 2;
  if (!compares) {
    fwrite(results.data(), sizeof(double), results.size(), file);
    return fclose(file);
  }
  double most = 0, expected;
  size_t count = 0;
  for (; fread(&expected, sizeof expected, 1, file) == 1 && count < results.size(); count++) {
    double const difference = fabs(results[count] - expected);
    if (!(difference <= most))
      most = difference;
  }
  bool const agrees = count == results.size() && most <= tolerance;
  printf("%s: %zu results, largest difference %g\n", agrees ? "agrees" : "DIFFERS", count, most);
  fclose(file);
  return agrees ? 0 : 1;
}
