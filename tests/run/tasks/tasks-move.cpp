// Tasks with objects of their own: strings and vectors are copied when a task is created, changed where it runs, and destroyed
// there once; exceptions stay in their task; results are objects in the heap.
// threads: any
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

static int alive, copies, caught;

struct Counted {
  std::string text;
  explicit Counted(std::string text) : text(std::move(text)) {
#pragma omp atomic
    alive++;
  }
  Counted(const Counted &other) : text(other.text) {
#pragma omp atomic
    alive++;
#pragma omp atomic
    copies++;
  }
  Counted &operator=(const Counted &) = default;
  ~Counted() {
#pragma omp atomic
    alive--;
  }
};

struct Tree {
  std::unique_ptr<Tree> left, right;
  std::string name;
  long sum = 0;
};

static void grow(std::unique_ptr<Tree> &place, int depth, std::string name) {
  place = std::make_unique<Tree>();
  place->name = name;
  if (depth == 0) {
    usleep(name.size() * 20);
    place->sum = name.size();
    return;
  }
#pragma omp task shared(place) firstprivate(name)
  grow(place->left, depth - 1, name + "l");
#pragma omp task shared(place) firstprivate(name)
  grow(place->right, depth - depth % 2 - 1 < 0 ? 0 : depth - depth % 2 - 1, name + "right");
#pragma omp taskwait
  place->sum = place->left->sum + place->right->sum;
}

int main() {
  std::vector<std::string> results(24);
  std::map<int, std::string> by_number;
  std::unique_ptr<Tree> root;
#pragma omp parallel
#pragma omp single
  {
    Counted outer("a text that is too long for the object itself");
    for (int i = 0; i < 24; i++) {
      std::vector<int> numbers(100 + i, i);
#pragma omp task firstprivate(outer, numbers, i) shared(results, by_number)
      {
        usleep(100 + i % 5 * 100);
        outer.text += std::to_string(i);
        numbers.push_back(1);
        long sum = 0;
        for (int n : numbers) sum += n;
        try {
          if (i % 3 == 0) throw std::runtime_error(outer.text);
          results[i] = outer.text + " " + std::to_string(sum);
        } catch (const std::runtime_error &error) {
          results[i] = std::string("caught ") + error.what();
#pragma omp atomic
          caught++;
        }
#pragma omp critical
        by_number[i] = results[i];
      }
    }
#pragma omp taskwait
    grow(root, 6, "");
  }
  for (auto &result : results) std::printf("%s\n", result.c_str());
  int same = 0;
  for (auto &[number, text] : by_number) same += text == results[number];
  std::printf("%d alive, %s, %d caught, %d same, sum %ld of %s\n", alive, copies >= 24 ? "copied" : "not copied", caught, same,
              root->sum, root->left->right->name.c_str());
  return 0;
}
