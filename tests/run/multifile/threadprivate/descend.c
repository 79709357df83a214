extern int depth;
extern double history[8];
#pragma omp threadprivate(depth, history)

int descend(int by) {
  depth -= by;
  history[3] += by;
  return depth;
}
