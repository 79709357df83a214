struct Series {
  long n;
  double values[];
} series = {100000, {[99999] = 1}};
double all[100000];
extern double first __attribute__((alias("all")));
