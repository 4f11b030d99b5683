// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers for Flutter's own engine. It runs in a process of its own, which ends with this one.
import { linesOf } from "../lines.mjs";
import { answer } from "./answer.mjs";
import { openFlutter } from "./installed.mjs";

const engine = await openFlutter().catch((error) => {
  console.error(`conformance/run flutter: ${error.message}`);
  process.exit(127);
});
try {
  for await (const line of linesOf(process.stdin)) {
    if (line.trim() === "") continue;
    let asked;
    try {
      asked = JSON.parse(line);
    } catch {
      asked = {};
    }
    const text = JSON.stringify(await answer(engine, asked));
    // Waits for a slow reader, so that answers do not accumulate in memory.
    if (!process.stdout.write(`${text}\n`)) await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
} catch (error) {
  console.error(`conformance/run flutter: ${error.message}`);
  process.exitCode = 1;
} finally {
  await engine.end();
}
