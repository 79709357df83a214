// A chain in a header, which is included several times: NAME is the function, TYPE its elements, REACH how far it reads, FIRST and
// LAST where it counts, WHAT its schedule.
static void NAME(TYPE *a, TYPE *b, int n) {
  PRAGMA(omplc loopchain schedule(WHAT))
  {
#pragma omplc for domain(FIRST : LAST) with(i) write a{(i)}, \
    read b{(i - REACH), /* here, too */ (i), (i + REACH)} // and behind it
    for (int i = FIRST; i <= LAST; i++)
      a[i] = b[i - REACH] + b[i] + b[i + REACH];
#pragma omplc for domain(FIRST : LAST) with(i) EACH_READ(a, REACH), write b{(i)}
    for (int i = FIRST; i <= LAST; i++)
      b[i] = a[i - REACH] - a[i + REACH];
  }
}
#undef NAME
#undef TYPE
#undef REACH
#undef FIRST
#undef LAST
