describe("payments", () => {
  it("is the .only( one", () => {});
  model.fit(data);
});
