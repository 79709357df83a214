// Vectors of two to four numbers, as OCCA has them: float4, int2, uchar3, ...
//
// They compute component by component, with each other and with numbers; make_float4(x, y, z, w) is
// float4(x, y, z, w).
#ifndef OKL_VECTORS_HPP
#define OKL_VECTORS_HPP

#define OKL_VECTOR_OPERATOR(V, T, EACH, SIGN, ASSIGN)                                                      \
  constexpr V &operator ASSIGN(V &a, const V &b) {                                                         \
    EACH(OKL_VECTOR_ASSIGN, ASSIGN)                                                                        \
    return a;                                                                                              \
  }                                                                                                        \
  constexpr V &operator ASSIGN(V &a, T b) { return a ASSIGN V(b); }                                        \
  constexpr V operator SIGN(V a, const V &b) { return a ASSIGN b; }                                        \
  constexpr V operator SIGN(V a, T b) { return a ASSIGN V(b); }                                            \
  constexpr V operator SIGN(T a, const V &b) {                                                             \
    V all(a);                                                                                              \
    return all ASSIGN b;                                                                                   \
  }
#define OKL_VECTOR_ASSIGN(COMPONENT, ASSIGN) a.COMPONENT ASSIGN b.COMPONENT;
#define OKL_VECTOR_EQUAL(COMPONENT, EQUAL) &&a.COMPONENT EQUAL b.COMPONENT

#define OKL_VECTOR_OPERATORS(V, T, EACH)                                                                   \
  OKL_VECTOR_OPERATOR(V, T, EACH, +, +=)                                                                   \
  OKL_VECTOR_OPERATOR(V, T, EACH, -, -=)                                                                   \
  OKL_VECTOR_OPERATOR(V, T, EACH, *, *=)                                                                   \
  OKL_VECTOR_OPERATOR(V, T, EACH, /, /=)                                                                   \
  constexpr V operator+(const V &a) { return a; }                                                          \
  constexpr V operator-(const V &a) { return static_cast<T>(0) - a; }                                             \
  constexpr bool operator==(const V &a, const V &b) { return true EACH(OKL_VECTOR_EQUAL, ==); }            \
  constexpr bool operator!=(const V &a, const V &b) { return !(a == b); }

#define OKL_EACH_OF_2(DO, WITH) DO(x, WITH) DO(y, WITH)
#define OKL_EACH_OF_3(DO, WITH) OKL_EACH_OF_2(DO, WITH) DO(z, WITH)
#define OKL_EACH_OF_4(DO, WITH) OKL_EACH_OF_3(DO, WITH) DO(w, WITH)

// Without values their components are not set, as those of numbers.
#define OKL_VECTORS(NAME, T)                                                                               \
  struct NAME##2 {                                                                                         \
    T x, y;                                                                                                \
    NAME##2() = default;                                                                                   \
    explicit constexpr NAME##2(T all) : x(all), y(all) {}                                                  \
    constexpr NAME##2(T a, T b) : x(a), y(b) {}                                                            \
  };                                                                                                       \
  struct NAME##3 {                                                                                         \
    T x, y, z;                                                                                             \
    NAME##3() = default;                                                                                   \
    explicit constexpr NAME##3(T all) : x(all), y(all), z(all) {}                                          \
    constexpr NAME##3(T a, T b, T c) : x(a), y(b), z(c) {}                                                 \
  };                                                                                                       \
  struct NAME##4 {                                                                                         \
    T x, y, z, w;                                                                                          \
    NAME##4() = default;                                                                                   \
    explicit constexpr NAME##4(T all) : x(all), y(all), z(all), w(all) {}                                  \
    constexpr NAME##4(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}                                      \
  };                                                                                                       \
  constexpr NAME##2 make_##NAME##2(T x, T y) { return NAME##2(x, y); }                                     \
  constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return NAME##3(x, y, z); }                             \
  constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return NAME##4(x, y, z, w); }                     \
  OKL_VECTOR_OPERATORS(NAME##2, T, OKL_EACH_OF_2)                                                          \
  OKL_VECTOR_OPERATORS(NAME##3, T, OKL_EACH_OF_3)                                                          \
  OKL_VECTOR_OPERATORS(NAME##4, T, OKL_EACH_OF_4)

OKL_VECTORS(char, char)
OKL_VECTORS(uchar, unsigned char)
OKL_VECTORS(short, short)
OKL_VECTORS(ushort, unsigned short)
OKL_VECTORS(int, int)
OKL_VECTORS(uint, unsigned int)
OKL_VECTORS(long, long)
OKL_VECTORS(ulong, unsigned long)
OKL_VECTORS(float, float)
OKL_VECTORS(double, double)

#undef OKL_VECTOR_OPERATOR
#undef OKL_VECTOR_ASSIGN
#undef OKL_VECTOR_EQUAL
#undef OKL_VECTOR_OPERATORS
#undef OKL_EACH_OF_2
#undef OKL_EACH_OF_3
#undef OKL_EACH_OF_4
#undef OKL_VECTORS

#endif
