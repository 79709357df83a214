// Tasks that walk a tree built serially and change its nodes.
// threads: any
#include <stdio.h>
#include <stdlib.h>

struct node {
  int key, depth;
  struct node *left, *right;
};

static struct node *insert(struct node *node, int key) {
  if (!node) {
    node = calloc(1, sizeof *node);
    node->key = key;
  } else if (key < node->key) {
    node->left = insert(node->left, key);
  } else if (key > node->key) {
    node->right = insert(node->right, key);
  }
  return node;
}

static void mark(struct node *node, int depth) {
  if (!node) return;
  node->depth = depth;
#pragma omp task
  mark(node->left, depth + 1);
#pragma omp task
  mark(node->right, depth + 1);
}

static long sum(const struct node *node) {
  return node ? (long)node->key * node->depth + sum(node->left) + sum(node->right) : 0;
}

int main(void) {
  struct node *root = NULL;
  for (int i = 0; i < 200; i++) root = insert(root, i * 91 % 307);
#pragma omp parallel
  {
#pragma omp single nowait
    mark(root, 1);
  }
  printf("%ld\n", sum(root));
  return 0;
}
