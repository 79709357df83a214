// Every reduction operator on every integer type.
// threads: any
#include <stdio.h>

#define TYPE(name, type)                                                                           \
  static void name(void) {                                                                         \
    type add = 3, sub = 90, mul = 1, and = (type)-1, or = 0, xor = 9, lo = 100, hi = 0;            \
    type both = 1, any = 0;                                                                        \
    _Pragma("omp parallel for reduction(+:add,sub) reduction(*:mul) reduction(&:and) reduction(|:or) reduction(^:xor) reduction(min:lo) reduction(max:hi) reduction(&&:both) reduction(||:any)") \
    for (int i = 0; i < 37; i++) {                                                                 \
      add += (type)i;                                                                              \
      sub -= (type)2;                                                                              \
      if (i % 13 == 0) mul *= (type)3;                                                             \
      and &= (type)(i | 0x50);                                                                     \
      or |= (type)(1 << (i % 5));                                                                  \
      xor ^= (type)(i * 5);                                                                        \
      type value = (type)((i * 29 + 7) % 97);                                                      \
      if (value < lo) lo = value;                                                                  \
      if (value > hi) hi = value;                                                                  \
      both = both && i >= 0;                                                                       \
      any = any || i == 36;                                                                        \
    }                                                                                              \
    printf("%s %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld\n", #type, (long)add, (long)sub, (long)mul, \
           (long)and, (long) or, (long)xor, (long)lo, (long)hi, (long)both, (long)any);            \
  }
TYPE(of_char, char)
TYPE(of_signed_char, signed char)
TYPE(of_unsigned_char, unsigned char)
TYPE(of_short, short)
TYPE(of_unsigned_short, unsigned short)
TYPE(of_int, int)
TYPE(of_unsigned, unsigned)
TYPE(of_long, long)
TYPE(of_unsigned_long, unsigned long)
TYPE(of_long_long, long long)
TYPE(of_unsigned_long_long, unsigned long long)

int main(void) {
  of_char();
  of_signed_char();
  of_unsigned_char();
  of_short();
  of_unsigned_short();
  of_int();
  of_unsigned();
  of_long();
  of_unsigned_long();
  of_long_long();
  of_unsigned_long_long();
  _Bool both = 1, any = 0;
#pragma omp parallel for reduction(&& : both) reduction(|| : any)
  for (int i = 0; i < 20; i++) {
    both = both && i != 19;
    any = any || i == 3;
  }
  printf("_Bool %d %d\n", both, any);
  return 0;
}
