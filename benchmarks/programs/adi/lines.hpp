// One line of an alternating-direction step: the tridiagonal system of implicit diffusion along it.
#ifndef LINES_HPP
#define LINES_HPP

#include <vector>

#include "../common.h"

// Elimination factors of -a u[i-1] + (1 + 2 a) u[i] - a u[i+1] = f[i], which are the same for all lines.
class Factors {
public:
  Factors(int n, double a) : a_(a), upper_(n), scale_(n) {
    for (int i = 0; i < n; i++) {
      scale_[i] = 1 / (1 + 2 * a - (i > 0 ? a * upper_[i - 1] : 0));
      upper_[i] = a * scale_[i];
    }
  }
  double coupling() const { return a_; }
  double upper(int i) const { return upper_[i]; }
  double scale(int i) const { return scale_[i]; }

private:
  double a_;
  std::vector<double> upper_, scale_;
};

// Whole numbers over 101, for a start.
inline double initial(int i, int j) { return (i * 7 + j * 13) % 101 / 101.0; }

// What the explicit half of a step makes of three neighbours.
inline double half_step(double a, double before, double here, double after) {
  return here + a * (before - 2 * here + after);
}

#endif
