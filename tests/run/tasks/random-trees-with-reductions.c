// Among the random trees some tasks that take part in reductions.
// threads: any
#define WITH_REDUCTIONS 1
#include "random-trees.c"
