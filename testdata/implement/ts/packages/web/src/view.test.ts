import { expect, it } from "vitest";
import { view } from "./view";

it("shows titles", () => {
  const { titles } = view([{ title: "write", done: false, tags: [] }]);
  expect(titles).toEqual(["write"]);
});
