import assert from "node:assert/strict";
import test from "node:test";
import { tagged } from "../src/tasks.js";

test("an open task with the tag is listed", () => {
  const task = { title: "write", done: false, tags: ["home"] };
  assert.deepEqual(tagged([task], "home"), [task]);
});
