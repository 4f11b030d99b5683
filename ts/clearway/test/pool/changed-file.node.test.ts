// SPDX-License-Identifier: MIT OR Apache-2.0
// The file of a pool's tasks changes while the pool lives, as in development. A worker that starts later runs the new file.
import { rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { testPool } from "../fixtures/pools.js";

type Tasks = { a(): string; b(): string; kind(): string; exit(): void };

const worker = import.meta.resolve("clearway/worker");
const text = (...tasks: string[]): string =>
  `import { expose } from ${JSON.stringify(worker)}; export default expose({ ${tasks.join(", ")} });`;
const exit = "exit: () => process.exit(1)";

/** Starts a pool on one version of the file, then lets its worker end and a worker of another version start. */
async function changed(before: string[], after: string[]) {
  const folder = await mkdtemp(join(tmpdir(), "clearway-changed-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "tasks.mjs");
  writeFileSync(file, text(...before));
  const pool = testPool<Tasks>(pathToFileURL(file), { size: 1 });
  await pool.ready();
  writeFileSync(file, text(...after));
  await expect(pool.call.exit()).rejects.toMatchObject({ code: "worker-exited" });
  await pool.ready();
  return pool;
}

test("a task that the new file lists at another place is still the task of that name", async () => {
  const { call } = await changed(
    ['a: () => "a"', 'b: () => "b"', exit],
    [exit, 'b: () => "new b"', 'a: () => "new a"'],
  );
  expect([await call.a(), await call.b()]).toEqual(["new a", "new b"]);
});

test("a task that the new file lacks, or has as a stream, is refused, and never runs another one", async () => {
  const { call, stats } = await changed(
    ['a: () => "a"', 'b: () => "b"', 'kind: () => "function"', exit],
    ['a: () => "new a"', "*kind() {}", exit],
  );
  for (const act of [call.b, call.kind])
    await expect(act()).rejects.toMatchObject({
      code: "unknown-task",
      message: expect.stringContaining("has changed"),
    });
  expect(await call.a()).toBe("new a");
  expect(stats()).toMatchObject({ open: 0, workers: { restarts: 1 } });
});
