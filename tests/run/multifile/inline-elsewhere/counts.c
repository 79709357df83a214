#include "counts.h"

extern void count(int *counts, int i);
extern void increase(int *counts, int n);
