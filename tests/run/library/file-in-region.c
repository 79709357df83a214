// Streams that serial code has opened, written by every thread of a region: each piece once, in the order
// of its thread, before serial code goes on; with the right results; also streams behind variables that
// are the standard streams, and files that only exist in memory.
// expect-stderr: progress 7
#define _GNU_SOURCE
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 100, LONG = 200000 };

static FILE *out, *progress, *console, *memory;
static char *text, *whole;
static size_t length;

static int tell(FILE *to, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int written = vfprintf(to, format, list);
  va_end(list);
  return written;
}

// Lines as "thread number ..." in any order of threads: how many, and how many out of their thread's order.
static void check(const char *what, FILE *from) {
  int lines = 0, disorder = 0, thread, number, next[64] = {0};
  rewind(from);
  while (fscanf(from, "%d %d%*[^\n]", &thread, &number) == 2) {
    lines++;
    disorder += number != next[thread]++;
  }
  printf("%s: %d lines, %d out of order\n", what, lines, disorder);
}

int main(void) {
  int right = 0, team = 0;
  out = fopen("out.txt", "w+");
  memory = open_memstream(&text, &length);
  progress = stderr;
  console = stdout;
  whole = malloc(LONG);
  memset(whole, 'x', LONG);
  fprintf(out, "%d %d in front\n", 63, 0);
#pragma omp parallel reduction(+ : right)
  {
    int me = omp_get_thread_num();
#pragma omp single
    team = omp_get_num_threads();
#pragma omp for
    for (int i = 0; i < 64; i++)
      if (i == 7) fprintf(progress, "progress %d\n", i);
    for (int i = 0; i < LINES; i += 5) {
      double half = i * 0.5;
#pragma omp critical(line)
      right += fprintf(out, "%d %d %g %g %g %g %g %g %g %g %g %s\n", me, i, half, 2.5, 3.5, 4.5, 5.5,
                       6.5, 7.5, 8.5, 9.5, "text") > 40;
#pragma omp critical(line)
      right += tell(out, "%d %d %d %d %d %d\n", me, i + 1, 1, 2, 3, 4) > 8;
      char line[40];
      snprintf(line, sizeof line, "%d %d\n", me, i + 2);
#pragma omp critical(line)
      right += fputs(line, out) >= 0;
      snprintf(line, sizeof line, "%d %d\n", me, i + 3);
#pragma omp critical(line)
      for (char *c = line; *c; c++) right += (i % 2 ? putc(*c, out) : fputc(*c, out)) == *c;
      int n = snprintf(line, sizeof line, "%d %d\n", me, i + 4);
#pragma omp critical(line)
      right += fwrite(line, 1, n, out) == (size_t)n;
      if (i % 50 == 0) right += fflush(out) == 0;
    }
  }
  printf("%d threads, %d right\n", team, right);
  check("out", out);
  fclose(out);

  // Another file, perhaps with the same address; long pieces; critical sections.
  out = fopen("out.txt", "w+");
  int turn = 0;
#pragma omp parallel
  {
    for (int i = 0; i < 20; i++)
#pragma omp critical
      fprintf(out, "%d %d\n", 0, turn++);
#pragma omp barrier
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 6; i++)
#pragma omp ordered
      fwrite(whole, 1, LONG, out);
  }
  rewind(out);
  int number = 0, disorder = 0, last = -1;
  for (int i = 0; i < turn; i++) {
    disorder += fscanf(out, "0 %d\n", &number) != 1 || number != last + 1;
    last = number;
  }
  fseek(out, 0, SEEK_CUR);
  long place = ftell(out), size = (fseek(out, 0, SEEK_END), ftell(out));
  printf("critical: %d lines, %d out of order, %ld behind\n", turn / team, disorder, size - place);
  fclose(out);

#pragma omp parallel for ordered
  for (int i = 0; i < 30; i++)
#pragma omp ordered
  {
    fprintf(memory, "%d,", i);
    fprintf(console, "line %d\n", i);
  }
  fclose(memory);
  printf("%zu %s\n", length, text);
  remove("out.txt");
  return 0;
}
