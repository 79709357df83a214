#include <stdlib.h>

int draw(int limit) { return rand() % limit; }
