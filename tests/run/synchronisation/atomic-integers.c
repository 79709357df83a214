// atomic update with every operator on every integer type.
// threads: any
#include <stdio.h>

#define TYPE(name, type)                                                                           \
  static void name(void) {                                                                         \
    type add = 1, sub = 100, mul = 1, and = (type)-1, or = 0, xor = 5, div = 120, shl = 1,         \
         shr = 64, pre = 0, rev = 3;                                                               \
    _Pragma("omp parallel for") for (int i = 0; i < 24; i++) {                                     \
      _Pragma("omp atomic") add += (type)i;                                                        \
      _Pragma("omp atomic update") sub -= (type)2;                                                 \
      _Pragma("omp atomic") and &= (type)~(1 << (i % 6));                                          \
      _Pragma("omp atomic") or |= (type)(1 << (i % 7));                                            \
      _Pragma("omp atomic") xor ^= (type)(i * 3);                                                  \
      _Pragma("omp atomic") ++pre;                                                                 \
      _Pragma("omp atomic") pre--;                                                                 \
      _Pragma("omp atomic") pre = pre + 2;                                                         \
      _Pragma("omp atomic") rev = (type)i - rev;                                                   \
      if (i < 3) {                                                                                 \
        _Pragma("omp atomic") mul *= (type)3;                                                      \
        _Pragma("omp atomic") div /= (type)2;                                                      \
        _Pragma("omp atomic") shl <<= 1;                                                           \
        _Pragma("omp atomic") shr >>= 1;                                                           \
      }                                                                                            \
    }                                                                                              \
    printf("%s %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld\n", #type, (long)add, (long)sub,        \
           (long)mul, (long)and, (long) or, (long)xor, (long)div, (long)shl, (long)shr,            \
           (long)pre, (long)rev & 1);                                                              \
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
  return 0;
}
