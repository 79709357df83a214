// Clustering with integer coordinates: assignments in parallel, sums by array reductions.
// threads: any
#include <array>
#include <cstdio>
#include <vector>

struct Point {
  long x, y;
};

int main() {
  constexpr int clusters = 5;
  std::vector<Point> points(1500);
  std::vector<int> member(points.size(), -1);
  for (std::size_t i = 0; i < points.size(); i++)
    points[i] = {static_cast<long>(i * 7919 % 1000), static_cast<long>(i * 104729 % 1013)};
  std::array<Point, clusters> centres;
  for (int c = 0; c < clusters; c++) centres[c] = points[c * 100];
  int rounds = 0, changed = 1;
  while (changed && rounds < 30) {
    long sx[clusters] = {}, sy[clusters] = {}, count[clusters] = {};
    changed = 0;
#pragma omp parallel for reduction(+ : sx, sy, count, changed)
    for (std::size_t i = 0; i < points.size(); i++) {
      int best = 0;
      long nearest = 1L << 60;
      for (int c = 0; c < clusters; c++) {
        long dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y;
        if (dx * dx + dy * dy < nearest) {
          nearest = dx * dx + dy * dy;
          best = c;
        }
      }
      changed += member[i] != best;
      member[i] = best;
      sx[best] += points[i].x;
      sy[best] += points[i].y;
      count[best]++;
    }
    for (int c = 0; c < clusters; c++)
      if (count[c]) centres[c] = {sx[c] / count[c], sy[c] / count[c]};
    rounds++;
  }
  std::printf("%d", rounds);
  for (auto &centre : centres) std::printf(" (%ld,%ld)", centre.x, centre.y);
  std::printf("\n");
}
