// The locale that serial code sets holds in regions: other ranks read multibyte text by it, too.
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static int letters(void) {
  int found = 0;
#pragma omp parallel reduction(+ : found)
  {
    wchar_t wide[8];
    found += (int)mbstowcs(wide, "\xc3\xa9t\xc3\xa9", 8);
  }
  return found;
}

int main(void) {
  printf("%d\n", letters());
  printf("%d\n", setlocale(LC_ALL, "C.UTF-8") != NULL);
  printf("%d\n", letters());
  setlocale(LC_CTYPE, "C");
  printf("%d\n", letters());
  return 0;
}
