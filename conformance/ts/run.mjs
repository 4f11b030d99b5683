// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers for TypeScript, through the built entry `clearway/channel`.
import { linesOf } from "../lines.mjs";
import { answerLine } from "./answer.mjs";

for await (const line of linesOf(process.stdin)) {
  if (line.trim() === "") continue;
  // Waits for a slow reader, so that answers do not accumulate in memory.
  if (!process.stdout.write(`${answerLine(line)}\n`))
    await new Promise((resolve) => process.stdout.once("drain", resolve));
}
