#include <x.h>
static int *f(int a, char **b) { return 0; }
struct S { int a; };
typedef struct T { int b; } T;
enum E { A };
#define X 1
#if X
int g(void) { }
#else
int h() {}
#endif
