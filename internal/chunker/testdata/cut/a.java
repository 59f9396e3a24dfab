package a.b;
import x.y;
/** doc */
@Ann public class A extends B {
  int f = 1;
  A() {}
  @Override public void m(int a) throws E { }
  interface I { void q(); default void r() {} }
  enum E { X, Y; void z() {} }
  record R(int a) { R {} }
  static { }
}
@interface Q { }
