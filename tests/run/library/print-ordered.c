// Output from single, master and ordered blocks, mixed with serial output, keeps its order.
// threads: any
#include <stdio.h>

int main(void) {
  printf("begin\n");
  for (int round = 0; round < 4; round++) {
    printf("round %d\n", round);
#pragma omp parallel
    {
#pragma omp single
      printf("single %d\n", round);
#pragma omp master
      puts("master");
#pragma omp barrier
#pragma omp for ordered
      for (int i = 0; i < 4; i++) {
#pragma omp ordered
        {
          printf("ordered ");
          fprintf(stdout, "%d", i);
          putchar('\n');
        }
      }
#pragma omp single
      {
        fputs("fputs\n", stdout);
        fwrite("fwrite\n", 1, 7, stdout);
      }
    }
    printf("no newline, ");
  }
  printf("end\n");
  return 0;
}
