function f(x) {
  console.log("here", x); //~ nit
  console.log(x.id); //~ nit
}
