// A hash table whose chains are guarded by one lock each.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { buckets = 8 };
struct entry {
  int key, count;
  struct entry *next;
};
static struct bucket {
  omp_lock_t lock;
  struct entry *head;
} table[buckets];

static void count(int key) {
  struct bucket *bucket = &table[key % buckets];
  omp_set_lock(&bucket->lock);
  struct entry *entry = bucket->head;
  while (entry && entry->key != key) entry = entry->next;
  if (!entry) {
    entry = calloc(1, sizeof *entry);
    entry->key = key;
    entry->next = bucket->head;
    bucket->head = entry;
  }
  entry->count++;
  omp_unset_lock(&bucket->lock);
}

int main(void) {
  for (int b = 0; b < buckets; b++) omp_init_lock(&table[b].lock);
#pragma omp parallel for schedule(static, 7)
  for (int i = 0; i < 150; i++) count(i * i % 37);
  int keys = 0;
  long hash = 0;
  for (int b = 0; b < buckets; b++) {
    for (struct entry *e = table[b].head; e; e = e->next) {
      keys++;
      hash += (long)e->key * e->key * e->count;
    }
    omp_destroy_lock(&table[b].lock);
  }
  printf("%d %ld\n", keys, hash);
  return 0;
}
