// Names: aliases, weak and hidden ones, ifunc, labels in assembly, common variables, sections.
// RUN: %S/compile %plugin %s -fcommon
#include <stdio.h>

int tentative[100];
extern struct unknown never_defined __attribute__((weak));
extern int weak_variable __attribute__((weak));
__attribute__((weak)) int weak_function(int x) { return x + 1; }
__attribute__((weak)) extern int weak_declaration(int);
static int target(int x) { return x * 2; }
int second(int) __attribute__((alias("visible")));
int visible(int x) { return target(x); }
static int third(int) __attribute__((alias("target")));
int variable = 3;
extern int other_variable __attribute__((alias("variable")));
__attribute__((visibility("hidden"))) int hidden(int x) { return x; }
__attribute__((visibility("protected"))) int protected(int x) { return x; }
int renamed(int) __asm__("name_in_the_object");
int renamed(int x) { return x + 5; }
extern double sine(double) __asm__("sin");
static int local_label __asm__("a.name.with.dots") = 4;
__attribute__((used)) static int kept(void) { return 1; }
__attribute__((section(".text.unlikely"), cold)) int cold(int x) { return x; }
__attribute__((section(".rodata.mine"))) static const int in_section[3] = {1, 2, 3};

static int quick(int x) { return x; }
static int slow(int x) { return x + 0; }
static int (*choose(void))(int) { return &tentative[0] ? quick : slow; }
int chosen(int) __attribute__((ifunc("choose")));

__asm__(".globl from_assembly\nfrom_assembly:\n  lea 1(%rdi), %eax\n  ret\n");
extern int from_assembly(int);

int (*functions[])(int) = {second, visible, third, hidden, renamed, chosen, weak_function};

int main(void) {
  int s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 50; i++) {
    s += second(i) + third(i) + hidden(i) + protected(i) + renamed(i) + chosen(i) + weak_function(i) + cold(i);
    s += other_variable + local_label + tentative[i] + in_section[i % 3] + (int)sine(i) + from_assembly(i);
    s += functions[i % 7](i);
    if (&weak_variable)
      s += weak_variable;
    if (weak_declaration)
      s += weak_declaration(i);
    if ((void *)&never_defined == &s)
      s++;
  }
  printf("%d\n", s);
  return 0;
}
