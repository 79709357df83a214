// Virtual calls, dynamic_cast and typeid on objects made serially and in regions.
// threads: any
#include <cstdio>
#include <memory>
#include <typeinfo>
#include <vector>

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
  virtual void grow(double by) = 0;
};
struct Square : Shape {
  double side;
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
  void grow(double by) override { side += by; }
};
struct Named {
  int tag = 9;
  virtual int name() const { return tag; }
  virtual ~Named() = default;
};
struct Bar : Named, Shape {
  double length = 1;
  double area() const override { return length; }
  void grow(double by) override { length += 2 * by; }
  int name() const override { return tag + 1; }
};

int main() {
  std::vector<std::unique_ptr<Shape>> shapes(120);
  for (int i = 0; i < 60; i++) shapes[i] = std::make_unique<Square>(i);
#pragma omp parallel for schedule(static, 5)
  for (int i = 60; i < 120; i++) shapes[i] = std::make_unique<Bar>();
  double total = 0;
  int bars = 0, names = 0;
#pragma omp parallel for reduction(+ : total, bars, names) schedule(static, 3)
  for (int i = 0; i < 120; i++) {
    shapes[i]->grow(0.5 * i);
    total += shapes[i]->area();
    if (auto *named = dynamic_cast<Named *>(shapes[i].get())) names += named->name();
    bars += typeid(*shapes[i]) == typeid(Bar);
  }
#pragma omp parallel for
  for (int i = 0; i < 120; i += 2) shapes[i].reset();
  std::printf("%.2f %d %d\n", total, bars, names);
}
