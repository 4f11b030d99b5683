// SPDX-License-Identifier: MIT OR Apache-2.0
// One host: the codecs run in processes of their own.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { check } from "../../../../../conformance/check.mjs";

test("`conformance/run ts` gives the expected answer to every case", async () => {
  expect(await check("ts")).toEqual([]);
});

test("`conformance/run` lists the known languages when it is given an unknown one", () => {
  const run = fileURLToPath(new URL("../../../../../conformance/run", import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [run, "cobol"], { encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toContain("LANGUAGE must be one of ts");
});
