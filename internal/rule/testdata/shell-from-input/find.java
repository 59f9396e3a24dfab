class A {
  void f(String d) throws Exception {
    Runtime.getRuntime().exec("sh -c ls " + d); //~ major
  }
}
