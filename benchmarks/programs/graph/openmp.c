// Builds a graph from a list of its edges and searches it breadth first. Places in the lists of neighbours and in the
// frontier are taken by atomic counters, vertices are marked in a bitmap. Another graph in every iteration.
#include <omp.h>
#include <string.h>

#include "edges.h"

struct graph {
  int vertices, edges;
  struct edge *list;
  int *start, *next, *neighbours;  // of vertex v: neighbours[start[v]] ... neighbours[start[v + 1] - 1]
};

static void draw(struct graph *g, int iteration) {
#pragma omp parallel for
  for (int i = 0; i < g->edges; i++)
    g->list[i] = new_edge(iteration, i, g->vertices);
}

// Each edge leads in both directions.
static void build(struct graph *g) {
  int vertices = g->vertices, edges = g->edges, *start = g->start, *next = g->next;
  int *neighbours = g->neighbours;
  const struct edge *list = g->list;
#pragma omp parallel
  {
#pragma omp for
    for (int v = 0; v < vertices; v++)
      next[v] = 0;
#pragma omp for
    for (int i = 0; i < edges; i++) {
#pragma omp atomic
      next[list[i].from]++;
#pragma omp atomic
      next[list[i].to]++;
    }
#pragma omp single
    {
      int sum = 0;
      for (int v = 0; v < vertices; v++) {
        int degree = next[v];
        start[v] = next[v] = sum;
        sum += degree;
      }
      start[vertices] = sum;
    }
#pragma omp for
    for (int i = 0; i < edges; i++) {
      int from = list[i].from, to = list[i].to, at;
#pragma omp atomic capture
      at = next[from]++;
      neighbours[at] = to;
#pragma omp atomic capture
      at = next[to]++;
      neighbours[at] = from;
    }
  }
}

// The distance of each vertex from `source`, -1 where there is no path.
static void search(const struct graph *g, int source, int *level, uint64_t *seen, int *frontier,
                   int *found) {
  int vertices = g->vertices, count = 1;
  const int *start = g->start, *neighbours = g->neighbours;
#pragma omp parallel for
  for (int v = 0; v < vertices; v++)
    level[v] = -1;
  memset(seen, 0, (vertices / 64 + 1) * sizeof *seen);
  seen[source / 64] |= UINT64_C(1) << source % 64;
  level[source] = 0;
  frontier[0] = source;
  for (int distance = 1; count > 0; distance++) {
    int new_count = 0;
#pragma omp parallel for schedule(dynamic, 256)
    for (int f = 0; f < count; f++) {
      int v = frontier[f];
      for (int e = start[v]; e < start[v + 1]; e++) {
        int w = neighbours[e], place;
        uint64_t bit = UINT64_C(1) << w % 64, before;
#pragma omp atomic read
        before = seen[w / 64];
        if (before & bit)
          continue;
#pragma omp atomic capture
        {
          before = seen[w / 64];
          seen[w / 64] |= bit;
        }
        if (before & bit)
          continue;
        level[w] = distance;
#pragma omp atomic capture
        place = new_count++;
        found[place] = w;
      }
    }
    int *swap = frontier;
    frontier = found;
    found = swap;
    count = new_count;
  }
}

int main(int argc, char **argv) {
  int vertices = number(argc, argv, 1, 20000, 1);
  int iterations = number(argc, argv, 2, 10, 1);
  struct graph g = {.vertices = vertices, .edges = 4 * vertices};
  g.list = allocate(g.edges, sizeof *g.list);
  g.start = allocate(vertices + 1, sizeof *g.start);
  g.next = allocate(vertices, sizeof *g.next);
  g.neighbours = allocate(2 * (size_t)g.edges, sizeof *g.neighbours);
  int *level = allocate(vertices, sizeof *level), *frontier = allocate(vertices, sizeof *frontier),
      *found = allocate(vertices, sizeof *found);
  uint64_t *seen = allocate(vertices / 64 + 1, sizeof *seen);

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    draw(&g, iteration);
    build(&g);
    search(&g, iteration % vertices, level, seen, frontier, found);
  }
  double seconds = omp_get_wtime() - start;

  double sum = 0;  // of whole numbers: exact in any order
#pragma omp parallel for reduction(+ : sum)
  for (int v = 0; v < vertices; v++)
    sum += (double)level[v] * (1 + v % 1009);
  print_result(seconds, iterations, sum);
  free(seen);
  free(found);
  free(frontier);
  free(level);
  free(g.neighbours);
  free(g.next);
  free(g.start);
  free(g.list);
  return 0;
}
