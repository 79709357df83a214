// The Mandelbrot set, dynamic schedule, printed as text.
// threads: any
#include <stdio.h>

int main(void) {
  enum { width = 72, height = 28 };
  static char image[height][width + 1];
  int inside = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : inside)
  for (int row = 0; row < height; row++)
    for (int column = 0; column < width; column++) {
      double cr = column * 3.0 / width - 2.2, ci = row * 2.4 / height - 1.2, r = 0, i = 0;
      int n = 0;
      for (; n < 200 && r * r + i * i < 4; n++) {
        double next = r * r - i * i + cr;
        i = 2 * r * i + ci;
        r = next;
      }
      inside += n == 200;
      image[row][column] = " .:-=+*#%@"[n == 200 ? 9 : n % 9];
    }
  for (int row = 0; row < height; row++) puts(image[row]);
  printf("%d\n", inside);
  return 0;
}
