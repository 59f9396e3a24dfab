xs.forEach(async (x) => { //~ major
  await save(x);
});
