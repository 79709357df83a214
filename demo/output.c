#include "output.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int fine, const char *path) {
  if (!fine) {
    perror(path);
    exit(1);
  }
}

static FILE *create(const char *path) {
  FILE *file = fopen(path, "wb");
  check(file != NULL, path);
  return file;
}

static void finish(FILE *file, const char *path) {
  int complete = !ferror(file);
  check(fclose(file) == 0 && complete, path);
}

void write_binary(const char *path, const struct grid *grid) {
  FILE *file = create(path);
  int32_t size[2] = {grid->width, grid->height};
  fwrite(size, sizeof size[0], 2, file);
  for (int y = 0; y < grid->height; y++)
    fwrite(grid->row[y], sizeof(double), grid->width, file);
  finish(file, path);
}

static unsigned char shade(double temperature, double hottest) {
  double value = 255 * temperature / hottest;
  return value <= 0 ? 0 : value >= 255 ? 255 : (unsigned char)value;
}

// ---- PNG: palette colours, and a zlib stream of stored (uncompressed) blocks.

static void put32(unsigned char *at, uint32_t value) {
  for (int i = 0; i < 4; i++)
    at[i] = value >> (24 - 8 * i);
}

static uint32_t crc(const unsigned char *bytes, size_t count) {
  uint32_t sum = 0xffffffff;
  for (size_t i = 0; i < count; i++) {
    sum ^= bytes[i];
    for (int bit = 0; bit < 8; bit++)
      sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum;
}

static void write_chunk(FILE *file, const char *type, const unsigned char *data, size_t count) {
  unsigned char *chunk = malloc(count + 12);
  put32(chunk, count);
  memcpy(chunk + 4, type, 4);
  memcpy(chunk + 8, data, count);
  put32(chunk + 8 + count, crc(chunk + 4, count + 4));
  fwrite(chunk, 1, count + 12, file);
  free(chunk);
}

// Wraps `count` bytes as a zlib stream; returns its length.
static size_t store(unsigned char *out, const unsigned char *bytes, size_t count) {
  unsigned char *at = out;
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < count; i++) {
    a = (a + bytes[i]) % 65521;
    b = (b + a) % 65521;
  }
  *at++ = 0x78;
  *at++ = 0x01;
  for (size_t done = 0; done < count;) {
    size_t length = count - done < 65535 ? count - done : 65535;
    *at++ = done + length == count;
    *at++ = length & 255;
    *at++ = length >> 8;
    *at++ = ~length & 255;
    *at++ = ~length >> 8 & 255;
    memcpy(at, bytes + done, length);
    at += length;
    done += length;
  }
  put32(at, b << 16 | a);
  return at + 4 - out;
}

// Black, violet, red, orange, yellow, white.
static void make_palette(unsigned char palette[256][3]) {
  static const unsigned char stop[6][3] = {{0, 0, 16},    {72, 12, 110},  {188, 40, 60},
                                           {246, 120, 16}, {252, 210, 80}, {255, 255, 240}};
  for (int i = 0; i < 256; i++) {
    int from = i * 5 / 256, part = i * 5 % 256;
    for (int c = 0; c < 3; c++)
      palette[i][c] = (stop[from][c] * (256 - part) + stop[from + 1][c] * part) / 256;
  }
}

void write_picture(const char *path, const struct grid *grid, double hottest) {
  size_t line = grid->width + 1, count = line * grid->height;
  unsigned char *pixels = malloc(count), *stream = malloc(count + 5 * (count / 65535 + 1) + 6);
  check(pixels && stream, path);
#pragma omp parallel for
  for (int y = 0; y < grid->height; y++) {
    pixels[y * line] = 0;  // no filter
    for (int x = 0; x < grid->width; x++)
      pixels[y * line + 1 + x] = shade(grid->row[y][x], hottest);
  }

  FILE *file = create(path);
  unsigned char header[13] = {0}, palette[256][3];
  put32(header, grid->width);
  put32(header + 4, grid->height);
  header[8] = 8;  // bits for each pixel
  header[9] = 3;  // palette colours
  make_palette(palette);
  fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
  write_chunk(file, "IHDR", header, sizeof header);
  write_chunk(file, "PLTE", palette[0], sizeof palette);
  write_chunk(file, "IDAT", stream, store(stream, pixels, count));
  write_chunk(file, "IEND", header, 0);
  finish(file, path);
  free(stream);
  free(pixels);
}

void write_text_picture(const char *path, const struct grid *grid, double hottest) {
  enum { COLUMNS = 72, LINES = 20 };
  static const char shades[] = " .:-=+*#%@";
  FILE *file = create(path);
  for (int line = 0; line < LINES; line++) {
    for (int column = 0; column < COLUMNS; column++) {
      double t = grid->row[(2 * line + 1) * grid->height / (2 * LINES)]
                          [(2 * column + 1) * grid->width / (2 * COLUMNS)];
      fputc(shades[shade(t, hottest) * 10 / 256], file);
    }
    fputc('\n', file);
  }
  finish(file, path);
}
