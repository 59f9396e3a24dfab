async function save(x) {
  await db.put(x);
}
async function run() {
  save(1); //~ major
}
