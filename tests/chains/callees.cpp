// schedules: 1 2 3
// refused: 90
//
// Loops in functions of C++: templates, a specialisation of one, members, references, arguments that are left out, a
// namespace, and conditions at borders that hold for few of the calls.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS fuse(), tile((8), serial, serial)
#elif SCHEDULE == 90
#define ITEMS fuse((0), (0), (0), (0))
#endif

enum { N = 60 };

namespace stencil {
template <typename T>
inline void difference(T *out, const T *in, int n, T scale = 2) {
#pragma omplc for domain(1 : n) with(i) read in{(i - 1), (i + 1)}, write out{(i)}
  for (int i = 1; i <= n; i++)
    out[i] = (in[i + 1] - in[i - 1]) / scale;
}
template <typename T>
inline void halve(T *out, const T *in, int n);
template <>
inline void halve<double>(double *out, const double *in, int n) {
#pragma omplc for domain(1 : n) with(i) read in{(i)}, write out{(i)}
  for (int i = 1; i <= n; i++)
    out[i] = in[i] / 2;
}
} // namespace stencil

class Field {
public:
  explicit Field(long seed) {
    for (int i = 0; i < N + 2; i++)
      cells[i] = noise(seed + i);
  }
  double *data() { return cells; }
  // The first cell is another one where there is a border.
  void smooth(double *out, int n, int first, bool has_border) const {
    const double *in = cells;
#pragma omplc for domain(1 : n) with(i) read in{(i - 1), (i)}, write out{(i)}
    for (int i = 1; i <= n; i++) {
#pragma omplc strip
      if ((first == 0 || n < 4) && has_border)
        out[i] = i == 1 ? 2 * in[i] : in[i] + 0.25 * in[i - 1];
      else
        out[i] = in[i] + 0.5 * in[i - 1];
    }
  }

private:
  double cells[N + 2];
};

template <int PARTS>
void run(Field &field, double *a, double *b, double *c, int first, int n, bool has_border) {
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
    field.smooth(a, n, first, has_border);
    stencil::difference(b, a, n);
    stencil::difference<double>(c, b, n - PARTS, 3.0);
    stencil::halve<double>(a, c, n - PARTS);
  }
}

int main() {
  Field field(7);
  double a[N + 2], b[N + 2], c[N + 2];
  for (int i = 0; i < N + 2; i++)
    a[i] = b[i] = c[i] = noise(1000 + i);
  for (int first = 0; first < 3; first++)
    for (int border = 0; border < 2; border++) {
      run<1>(field, a, b, c, first, N, border == 1);
      run<2>(field, c, a, b, first, 3, border == 1);
      print_doubles("a", a, N + 2);
      print_doubles("b", b, N + 2);
      print_doubles("c", c, N + 2);
    }
  field.smooth(a, N, 0, true);
  print_doubles("a", a, N + 2);
  return 0;
}
