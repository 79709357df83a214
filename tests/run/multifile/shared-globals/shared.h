struct settings {
  int rounds;
  double scale;
};
extern double table[500];
extern struct settings settings;
extern long *heap;
extern int counter;
extern char label[];
void create(int n);
void update(void);
void destroy(void);
