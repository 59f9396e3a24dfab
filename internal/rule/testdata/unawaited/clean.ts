async function save(x) {
  await db.put(x);
}
async function run() {
  await save(1);
  void save(2);
  save(3).catch(report);
  save(4)
    .catch(report);
  return Promise.all([
    save(5),
  ]);
}
useEffect(() => {
  save(6);
}, []);
class Stream {
  async stop() {
    const stop = () => this.end();
    stop();
  }
}
function onClose() {
  save(7);
}
