// Virtual and multiple inheritance, RTTI, pointers to members, covariant results, thunks.
// RUN: %S/compile %plugin %s -std=c++17
#include <cstdio>
#include <memory>
#include <typeinfo>
#include <vector>
struct base {
  int b = 1;
  virtual ~base() = default;
  virtual base *self() { return this; }
  virtual int value(int x) const = 0;
};
struct left : virtual base {
  int l = 2;
  int value(int x) const override { return x + l; }
};
struct right : virtual base {
  int r = 3;
  right *self() override { return this; }
};
struct bottom final : left, right {
  int d = 4;
  bottom *self() override { return this; }
  int value(int x) const override { return left::value(x) + r + d + b; }
  __attribute__((noinline)) virtual void region(std::vector<int> &v) {
#pragma omp parallel for
    for (int i = 0; i < int(v.size()); i++)
      v[i] += value(i) + this->*(i & 1 ? &bottom::d : &bottom::d);
  }
};
struct abstract {
  virtual int call() = 0;
  abstract() { own(); }
  void own() {}
};
struct empty {};
struct packed : private empty, abstract {
  int call() override { return sizeof(*this); }
};
int main() {
  std::vector<std::unique_ptr<base>> all;
  for (int i = 0; i < 20; i++)
    all.push_back(i % 3 ? std::unique_ptr<base>(new bottom) : std::make_unique<left>());
  int s = 0;
  int (base::*method)(int) const = &base::value;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 20; i++) {
    base *b = all[i].get();
    s += b->value(i) + (b->*method)(i);
    if (auto *r = dynamic_cast<right *>(b))
      s += r->self()->r;
    s += typeid(*b) == typeid(left) ? 1 : dynamic_cast<void *>(b) == b->self();
    packed p;
    s += static_cast<abstract &>(p).call();
  }
  std::vector<int> v(30);
  bottom().region(v);
  std::printf("%d %d %s\n", s, v[3], typeid(*all[0]).name());
}
