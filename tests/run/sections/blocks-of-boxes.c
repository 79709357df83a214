// Work is dealt out over a list of blocks, each of which names a box whose vectors are behind
// three pointers, and small functions zero what they are handed: their stores become one
// `memset`, which tells no more which type it overwrites, so the pointers are loaded again in
// each iteration. All pages that this touches have to be found.
#include <stdio.h>
#include <stdlib.h>

enum { boxes = 6, side = 12, tiles = 3, vectors = 3 };

typedef double Triple[3];

typedef struct {
    int stride;
    double **vectors;
    Triple *forces;
} Box;

typedef struct {
    int box, from, rows;
} Block;

typedef struct {
    int block_count;
    Block *blocks;
    Box *boxes;
} Level;

static void zero(Triple t) {
    t[0] = 0;
    t[1] = 0;
    t[2] = 0;
}

static void clear(Level *level) {
#pragma omp parallel for
    for (int b = 0; b < level->block_count; b++) {
        Box *box = &level->boxes[level->blocks[b].box];
        int from = level->blocks[b].from;
        for (int i = from; i < from + level->blocks[b].rows; i++) zero(box->forces[i]);
    }
}

static void smooth(Level *level, int to, int of) {
#pragma omp parallel for
    for (int b = 0; b < level->block_count; b++) {
        const Box *box = &level->boxes[level->blocks[b].box];
        const double *x = box->vectors[of];
        double *y = box->vectors[to];
        int from = level->blocks[b].from, to_row = from + level->blocks[b].rows;
        for (int i = from; i < to_row; i++)
            for (int j = 0; j < side; j++) {
                double up = i ? x[(i - 1) * box->stride + j] : 0;
                double down = i + 1 < side ? x[(i + 1) * box->stride + j] : 0;
                y[i * box->stride + j] = 0.5 * x[i * box->stride + j] + 0.25 * (up + down);
                box->forces[i][j % 3] += up - down;
            }
    }
}

static double norm(Level *level, int of) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int b = 0; b < level->block_count; b++) {
        const Box *box = &level->boxes[level->blocks[b].box];
        for (int i = level->blocks[b].from; i < level->blocks[b].from + level->blocks[b].rows; i++)
            for (int j = 0; j < side; j++) sum += box->vectors[of][i * box->stride + j];
    }
    return sum;
}

int main(void) {
    Level *level = malloc(sizeof *level);
    level->block_count = boxes * tiles;
    level->blocks = malloc(boxes * tiles * sizeof *level->blocks);
    level->boxes = malloc(boxes * sizeof *level->boxes);
    for (int b = 0; b < boxes; b++) {
        Box *box = &level->boxes[b];
        box->stride = side + b;
        box->vectors = malloc(vectors * sizeof *box->vectors);
        box->forces = malloc(side * sizeof *box->forces);
        for (int v = 0; v < vectors; v++) {
            box->vectors[v] = calloc(side * box->stride, sizeof(double));
            for (int i = 0; i < side * box->stride; i++)
                box->vectors[v][i] = (i * 7 + b * 3 + v) % 32;
        }
        for (int t = 0; t < tiles; t++)
            level->blocks[t * boxes + b] = (Block){b, t * (side / tiles), side / tiles};
    }
    clear(level);
    for (int step = 0; step < 6; step++) {
        smooth(level, (step + 1) % vectors, step % vectors);
        if (step == 3) clear(level);
        printf("%d %.10g\n", step, norm(level, (step + 1) % vectors));
    }
    double forces = 0;
    for (int b = 0; b < boxes; b++)
        for (int i = 0; i < side; i++)
            for (int k = 0; k < 3; k++) forces += (k + 1) * level->boxes[b].forces[i][k];
    printf("forces %.10g\n", forces);
}
