import org.apache.http.conn.ssl.NoopHostnameVerifier_;
class A {
  public void checkServerTrusted(X509Certificate[] chain, String type) { check(chain); }
}
