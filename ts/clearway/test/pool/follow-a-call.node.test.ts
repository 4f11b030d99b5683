// SPDX-License-Identifier: MIT OR Apache-2.0
// One host: it compares the documentation with the files that a call loads.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { plainUrl } from "../fixtures/pools.js";

// The list in ARCHITECTURE.md, "Follow a call".
function listed(): string[] {
  const page = readFileSync(new URL("../../../../ARCHITECTURE.md", import.meta.url), "utf8");
  const [, section = ""] = page.split("## Follow a call");
  const steps = section.split("\n").filter((line) => /^\d+\. `/.test(line));
  return steps.map((line) => /`([^`]+)`/.exec(line)![1]!);
}

test("a warm call by port passes through the files that ARCHITECTURE.md lists, 17 at most", async () => {
  const program = fileURLToPath(new URL("../fixtures/follow-a-call.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, plainUrl.href]);
  const passed: string[] = JSON.parse(stdout);
  expect(passed).toEqual(listed().sort());
  expect(passed.length).toBeLessThanOrEqual(17);
});
