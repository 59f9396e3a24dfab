class A { void f() {
  if (kind == "debit") { a(); } //~ major
  boolean b = "x" != name; //~ major
} }
