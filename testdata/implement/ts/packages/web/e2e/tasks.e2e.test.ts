import { expect, it } from "vitest";
import { handle } from "../src/handle";

it("lists the tasks", async () => {
  const answer = handle(new Request("http://localhost/tasks"), [{ title: "write", done: false, tags: [] }]);
  expect(await answer.json()).toMatchObject({ titles: ["write"] });
});
