class A {
  void f(String id) {
    st.executeQuery("SELECT a FROM t WHERE id = '" + id + "'"); //~ major
    st.executeQuery(String.format("SELECT a FROM t WHERE id = '%s'", id)); //~ major
  }
  void count(int count) {}
  void g(String count, Request r) {
    st.executeQuery("SELECT a FROM t WHERE n = '" + count + "'"); //~ major
    st.executeQuery("SELECT a FROM t WHERE n = '" + r.getId() + "'"); //~ major
  }
}
