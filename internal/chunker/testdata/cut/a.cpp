#include "x.h"
namespace a::b {
template <typename T> class C : public B {
 public:
  C() : x(1) {}
  int m() const { return 1; }
  void decl();
  int x;
};
struct S { int a; };
enum class E { A };
}
int* A::B::f(int x) { return 0; }
template <class T> T g(T t) { return t; }
#ifdef X
static void h(void) {}
#endif
extern "C" { void k() {} }
typedef struct { int q; } Q;
#define MAC(x) x
A::~A() {}
bool operator==(A a, A b) { return true; }
auto x = 1;
