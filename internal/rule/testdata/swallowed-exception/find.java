class A { void f() {
  try { a(); } catch (Exception e) { } //~ minor
} }
