try { a(); } catch (e) {} //~ minor
try {
  a();
} catch { //~ minor
}
