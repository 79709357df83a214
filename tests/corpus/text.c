// Text and formats: empty ones, ones of other types, with NULs inside.
// RUN: %S/compile %plugin %s -std=c11
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>
static const char zeros[8], none[1] = "", unterminated[3] = "abc";
static const struct {
  char text[4];
  int n;
} nothing;
static const int numbers[3];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 4; i++) {
    printf("%s%d\n", "", i);
    printf("%s%s%s%.3s\n", zeros, none, nothing.text, unterminated);
    printf("a\0b", i);
    printf("");
    printf("%ls %" PRId64 " %s\n", L"wide", (int64_t)i, __func__);
    fputs("", stdout);
    fputs(u8"\u00e4\n", stderr);
    puts((const char *)numbers);
    fwrite("\0\0", 1, 0, stdout);
    printf("%p %d\n", (void *)L"", u"x"[0] + U"y"[0]);
    printf(i > 1000 ? "" : "%d\n", i);
    char own[16] = "", *p = own;
    snprintf(p, 16, "%s", "");
    printf("%s%zu\n", own, strlen(""));
    perror("");
  }
  return 0;
}
