// Result files. Each function ends the program with a message when it cannot
// write its file.
#ifndef OUTPUT_H
#define OUTPUT_H

#include "grid.h"

// Width and height as 32-bit integers, then the cells as doubles, row by row.
void write_binary(const char *path, const struct grid *grid);

// A PNG picture, one pixel for each cell, 0 black to `hottest` white.
void write_picture(const char *path, const struct grid *grid, double hottest);

// The same picture in characters, for a terminal.
void write_text_picture(const char *path, const struct grid *grid, double hottest);

#endif
