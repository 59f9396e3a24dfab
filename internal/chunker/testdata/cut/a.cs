using System;
namespace N.M;
/// <summary>x</summary>
[Attr]
public class A<T> : B {
  int f = 1;
  public int P { get; set; }
  public int Q { get { return 1; } set { } }
  public A() {}
  public async Task<int> M(int a) { return 1; }
  int E() => 1;
  public event X Y;
  enum Z { A }
  ~A() {}
  public static A operator +(A a) { return a; }
  public int this[int i] { get { return 1; } }
}
interface I { void q(); }
record R(int a);
struct S { }
delegate void D();
