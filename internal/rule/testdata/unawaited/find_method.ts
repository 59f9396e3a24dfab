class Store {
  async save() {
    await put();
  }
  async close() {
    this.save(); //~ major
  }
}
