// SPDX-License-Identifier: MIT OR Apache-2.0
// Test runners remove their module loader after each test. A pool that was left open must not load modules after that.
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { partialLibrary } from "../fixtures/partial-library.js";

const source = `import { expose } from "./worker.js"; export default expose({ add: (a, b) => a + b });`;
type Tasks = { add(a: number, b: number): number };

const built = (name: string): string => fileURLToPath(new URL(`../../dist/node/${name}`, import.meta.url));

/** Creates a task module whose worker cannot load its end of the ring, and so never announces it. */
async function tasksWithoutRing(): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), "clearway-left-open-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await copyFile(built("worker.mjs"), join(folder, "worker.js"));
  await copyFile(built("lazy-server.js"), join(folder, "lazy-server.js"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "tasks.js"), source);
  return pathToFileURL(join(folder, "tasks.js"));
}

test("a pool loads its ring after its first answer, without waiting for the worker's end of the ring", async () => {
  const { library, asked, come } = await partialLibrary("open-ring", "late");
  const pool = library.pool<Tasks>(await tasksWithoutRing(), { size: 1 });
  onTestFinished(() => pool.terminate());
  expect(await pool.call.add(1, 2)).toBe(3);
  await asked;
  come();
  expect(await pool.call.add(3, 4)).toBe(7);
});
