describe.only("payments", () => { //~ major
  fit("pays", () => {}); //~ major
});
