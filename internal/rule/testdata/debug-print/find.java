class A { void f() {
  e.printStackTrace(); //~ nit
} }
