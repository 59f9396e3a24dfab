class A {
  void f(String id) {
    st.executeQuery("SELECT a FROM t WHERE id = '" + id + "'"); //~ major
    st.executeQuery(String.format("SELECT a FROM t WHERE id = '%s'", id)); //~ major
  }
}
