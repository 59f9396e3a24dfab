class A { void f() {
  if ("debit".equals(kind)) { a(); } // kind == "debit"
  String s = "a == ";
  if (kind == null || c == 'x') { b(); }
} }
