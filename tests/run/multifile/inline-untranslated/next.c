#include "next.h"

extern int next(int x);
