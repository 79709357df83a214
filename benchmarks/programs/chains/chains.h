// What the programs that compare ways to run a chain of loops share: every way is in a file of its own, or in one with others, and
// says what it is called before main() begins. main() runs all of them one right after the other, so often as it is told, each
// time beginning with another one, and compares what they compute bit by bit with what the first of them does.
//
// In the first round, which is not timed, what lies between loops is counted: elements of temporaries that are written, and what
// else a way allocates. Temporaries are no numbers there when a way begins, so that one that reads what it has not written is found
// out.
#ifndef CHAINS_H
#define CHAINS_H

#include <stddef.h>

// One of the ways. The data are those of the program.
struct way {
  const char *name;
  void (*run)(void);
};

void add_way(const char *name, void (*run)(void));

// What a program defines: its data, as they are before each run; what a run leaves behind, in pieces.
void prepare(void);
size_t pieces(void);
const double *piece(size_t number, size_t *count);

// Memory of a thread for what lies between its loops, kept from one call to the next.
double *temporaries(size_t bytes);
// Elements of the program's that are such.
void are_temporary(double *first, size_t count);

// From now on what the program allocates is counted, from 0, or not any more; whether the calling thread leaves it out; bytes, at
// most. Where nobody counts them there are no such functions.
void count_allocated(int counts) __attribute__((weak));
void leave_out(int leaves) __attribute__((weak));
size_t most_allocated(void) __attribute__((weak));

// Runs all ways, or the one that is named, and prints `way NAME leaves BITS` once, and `way NAME seconds SECONDS bytes BYTES` for
// each run. 1 where one of them computes something else.
int run_all(int repetitions, const char *only);

#define WAY(NAME, FUNCTION) \
  __attribute__((constructor)) static void add_##FUNCTION(void) { add_way(NAME, FUNCTION); }

#endif
