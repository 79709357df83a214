// new and delete across regions, arrays of objects, placement new, aligned and class-specific new.
// threads: any
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

struct alignas(64) Wide {
  double values[8];
};

struct Pooled {
  long value = 3;
  static void *operator new(std::size_t size) { return std::malloc(size + 16); }
  static void operator delete(void *p) { std::free(p); }
};

struct Item {
  int *cell;
  explicit Item(int v = 0) : cell(new int(v)) {}
  ~Item() { delete cell; }
  Item(const Item &) = delete;
  Item &operator=(const Item &) = delete;
};

int main() {
  Wide *wide[20];
  Pooled *pooled[20];
  Item *items = new Item[50];
  int misaligned = 0;
#pragma omp parallel for reduction(+ : misaligned)
  for (int i = 0; i < 20; i++) {
    wide[i] = new Wide{};
    pooled[i] = new Pooled;
    misaligned += reinterpret_cast<std::uintptr_t>(wide[i]) % 64 != 0;
    wide[i]->values[i % 8] = i;
    pooled[i]->value += i;
  }
#pragma omp parallel for
  for (int i = 0; i < 50; i++) {
    delete items[49 - i].cell;
    items[49 - i].cell = new int(i + 1);
  }
  alignas(Item) unsigned char storage[sizeof(Item)];
  Item *placed = new (storage) Item(5);
  double sum = *placed->cell + misaligned;
  placed->~Item();
  for (int i = 0; i < 20; i++) {
    sum += wide[i]->values[i % 8] + static_cast<double>(pooled[i]->value);
    delete pooled[i];
    delete wide[i];
  }
  delete[] items;
  void *tried = operator new(static_cast<std::size_t>(1) << 62, std::nothrow);
  std::printf("%.1f %d\n", sum, tried == nullptr);
}
