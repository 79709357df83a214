#include <stdlib.h>

int draw(void) { return rand(); }
