// SPDX-License-Identifier: MIT OR Apache-2.0
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { outputOf } from "../output-of.js";

const folder = await mkdtemp(join(tmpdir(), "clearway-upload-test-"));
afterAll(() => rm(folder, { recursive: true }));

test("a file is sent whole, and progress is told in order before the result", async () => {
  const path = join(folder, "film.raw");
  await writeFile(path, randomBytes(4 * 1024 * 1024 + 1));
  const output = await outputOf("./upload/main.js", path);
  expect(output.map((line) => line.replace(/^[#.]+ /, ""))).toEqual([
    "25 %",
    "50 %",
    "75 %",
    "100 %",
    "100 %",
    "sent 4194305 bytes, received 4194305",
  ]);
});

test("a file that is not there fails the call with its own error", async () => {
  await expect(outputOf("./upload/main.js", join(folder, "missing.raw"))).rejects.toThrow(/ENOENT/);
});
