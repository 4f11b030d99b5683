// SPDX-License-Identifier: MIT OR Apache-2.0
// A task's output may still be in flight when the task is answered. It must arrive before its worker or the process ends.
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { builtUrl } from "../fixtures/pools.js";

const lines = 1_000;

async function printed(source: string): Promise<number> {
  const folder = await mkdtemp(fileURLToPath(new URL("../fixtures/built/output-", import.meta.url)));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = `${folder}/program.mjs`;
  const head = `import { pool, run } from "clearway"; const url = new URL(${JSON.stringify(builtUrl("prints").href)});\n`;
  await writeFile(file, head + source);
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  await new Promise((resolve) => child.once("close", resolve));
  return output.split("\n").filter((line) => line.startsWith("line ")).length;
}

test.each([
  ["a script ends", `await pool(url, { size: 1 }).call.print(${lines});`, lines],
  [
    "a script with a warm pool ends",
    `const p = pool(url, { size: 1 }); await p.ready(); await p.call.print(${lines});`,
    lines,
  ],
  [
    "a script whose second call prints ends",
    `const p = pool(url, { size: 1 }); await p.call.print(1); await p.call.print(${lines - 1});`,
    lines,
  ],
  ["a pool is closed", `const p = pool(url, { size: 1 }); await p.call.print(${lines}); await p.close();`, lines],
  [
    "a pool is closed after its second call",
    `const p = pool(url, { size: 1 }); await p.call.print(0); await p.call.print(${lines}); await p.close();`,
    lines,
  ],
  ["run() has given its result", `await run(url).call.print(${lines});`, lines],
  [
    "a worker is recycled",
    `const p = pool(url, { size: 1, recycle: { tasks: 1 } }); for (let at = 0; at < 3; at++) await p.call.print(${lines}); await p.close();`,
    3 * lines,
  ],
])("all output of a task arrives when %s", async (_when, source, count) => {
  expect(await printed(source)).toBe(count);
});
