// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: Node 20 leaves a file open that a thread was reading when it was ended.
import { readdirSync, readlinkSync } from "node:fs";
import { pool, run } from "clearway";
import { expect, test } from "vitest";
import { builtUrl } from "../fixtures/pools.js";

type Tasks = typeof import("../fixtures/process.tasks.js");

/** The library's files that this process has open. Only Linux lists them. */
function openFiles(): string[] {
  const links = readdirSync("/proc/self/fd").map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return "";
    }
  });
  return links.filter((link) => /\/clearway\/dist\/.*\.js$/.test(link));
}

test.runIf(process.platform === "linux").each([
  ["run()", () => run<Tasks>(builtUrl("process")).call.add(1, 2)],
  [
    "a pool that is closed after its first call",
    async () => {
      const made = pool<Tasks>(builtUrl("process"), { size: 1 });
      await made.call.add(1, 2);
      await made.close();
    },
  ],
])("%s leaves no file open", async (_, once) => {
  for (let n = 0; n < 20; n++) await once();
  expect(openFiles()).toEqual([]);
});
