// What the programs that compare ways to run a chain of loops share: every way is in a file of its own, or in one with others, and
// says what it is called before main() begins. main() runs all of them one right after the other, so often as it is told, each
// time beginning with another one, and compares what they compute bit by bit with what the first of them does.
#ifndef CHAINS_H
#define CHAINS_H

#include <stddef.h>

// One of the ways. The data are those of the program.
struct way {
  const char *name;
  void (*run)(void);
  // Bytes that it has for what lies between its loops, all threads together; 0 where nobody has counted them.
  size_t (*temporaries)(void);
};

void add_way(const char *name, void (*run)(void), size_t (*temporaries)(void));

// What a program defines: its data, as they are before each run; what a run leaves behind, in pieces.
void prepare(void);
size_t pieces(void);
const double *piece(size_t number, size_t *count);

// Runs all ways, or the one that is named, and prints `way NAME seconds SECONDS bytes BYTES` for each run. 1 where one of them
// computes something else.
int run_all(int repetitions, const char *only);

#define WAY(NAME, FUNCTION, TEMPORARIES) \
  __attribute__((constructor)) static void add_##FUNCTION(void) { add_way(NAME, FUNCTION, TEMPORARIES); }

#endif
