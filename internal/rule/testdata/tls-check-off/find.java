class A {
  public void checkServerTrusted(X509Certificate[] chain, String type) {} //~ major
  Object b = builder.setSSLHostnameVerifier(NoopHostnameVerifier.INSTANCE); //~ major
}
