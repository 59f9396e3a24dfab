function f() {
  debugger; //~ minor
}
