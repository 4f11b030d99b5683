// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { builtUrl, testPool } from "../fixtures/pools.js";

type Sources = typeof import("../fixtures/sources.tasks.js");

test.each(["first", "unread"] as const)("an idle Readable is destroyed when its task has ended: %s", async (task) => {
  const source = new PassThrough();
  const closed = once(source, "close");
  source.write("header");
  await testPool<Sources>(builtUrl("sources")).call[task](source);
  await closed;
  expect(source.destroyed).toBe(true);
});

test("a Readable whose destroy() throws ends with its call", async () => {
  const source = new PassThrough();
  source.destroy = () => {
    throw new Error("no");
  };
  expect(await testPool<Sources>(builtUrl("sources")).call.unread(source)).toBe("unread");
});
