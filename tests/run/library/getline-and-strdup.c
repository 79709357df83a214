// Memory that the C library allocates (getline, strdup, asprintf, open_memstream) is read in a region.
// threads: any
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char *lines[40], *line = NULL, *stream_text = NULL;
  size_t size = 0, stream_size = 0;
  FILE *file = tmpfile();
  for (int i = 0; i < 40; i++) fprintf(file, "line %d %.*s\n", i, i, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
  rewind(file);
  for (int i = 0; i < 20; i++) {
    if (getline(&line, &size, file) < 0) return 1;
    lines[i] = strdup(line);
  }
  for (int i = 20; i < 40; i++)
    if (asprintf(&lines[i], "made %d", i) < 0) return 2;
  fclose(file);
  FILE *stream = open_memstream(&stream_text, &stream_size);
  fprintf(stream, "%d and more", 12345);
  fclose(stream);
  long length = 0, letters = 0;
#pragma omp parallel for reduction(+ : length, letters)
  for (int i = 0; i < 40; i++) {
    length += (long)strlen(lines[i]) + (long)strlen(line);
    for (const char *p = lines[i]; *p; p++) letters += *p;
    letters += stream_text[i % stream_size];
    free(lines[i]);
  }
  printf("%ld %ld\n", length, letters);
  free(line);
  free(stream_text);
  return 0;
}
