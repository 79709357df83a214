// A tree built serially and read by all threads, with parent pointers and results in its nodes.
// threads: any
#include <stdio.h>
#include <stdlib.h>

struct node {
  int key, hits;
  struct node *child[2], *parent;
};

static struct node *new_node(int key, struct node *parent) {
  struct node *node = calloc(1, sizeof *node);
  node->key = key;
  node->parent = parent;
  return node;
}

static struct node *find(struct node *node, int key) {
  while (node && node->key != key) node = node->child[key > node->key];
  return node;
}

int main(void) {
  struct node *root = new_node(500, NULL);
  for (int i = 1; i < 400; i++) {
    int key = i * 379 % 1009;
    struct node *at = root;
    while (at->key != key) {
      struct node **child = &at->child[key > at->key];
      if (!*child) *child = new_node(key, at);
      at = *child;
    }
  }
  int found = 0, depth = 0;
#pragma omp parallel for reduction(+ : found, depth)
  for (int key = 0; key < 1009; key++) {
    struct node *node = find(root, key);
    if (node) {
      found++;
      node->hits = key * 2;
      for (struct node *up = node; up; up = up->parent) depth++;
    }
  }
  long hits = 0;
  for (int key = 0; key < 1009; key++) {
    struct node *node = find(root, key);
    if (node) hits += node->hits;
  }
  printf("%d %d %ld\n", found, depth, hits);
  return 0;
}
