// SPDX-License-Identifier: MIT OR Apache-2.0
// One host: it compares the documentation with the files that a call loads.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { plainUrl } from "../fixtures/pools.js";

// The two lists in ARCHITECTURE.md, "Follow a call".
function listed(): string[][] {
  const page = readFileSync(new URL("../../../../ARCHITECTURE.md", import.meta.url), "utf8");
  const [section = ""] = page.split("## Follow a call")[1]!.split("## ");
  return section.split(/^(?=1\. )/m).map((list) => [...list.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file]) => file!));
}

test("a warm call by port passes through the files that ARCHITECTURE.md lists: nine, and five in the worker", async () => {
  const program = fileURLToPath(new URL("../fixtures/follow-a-call.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, plainUrl.href]);
  const passed: { caller: string[]; worker: string[] } = JSON.parse(stdout);
  const [, caller, worker] = listed();
  expect(passed).toEqual({ caller: caller!.sort(), worker: worker!.sort() });
  expect([passed.caller.length, passed.worker.length]).toEqual([9, 5]);
});
