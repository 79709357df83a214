enum { cells = 4096, rows = 40, columns = 50 };
extern long counts[cells];
int ascending(const void *a, const void *b);
