try { a(); } catch (e) { /* best effort */ }
try {
  a();
} catch (e) {
  report(e);
}
try { a(); } catch (ignored) {}
