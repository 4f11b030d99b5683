// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the programs of `conformance/run`, and keeps them running between cases.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { linesOf } from "../lines.mjs";

const run = fileURLToPath(new URL("../run", import.meta.url));

/** Starts a language's program. `ask(cases)` resolves with the answers in order. `end()` ends the program and waits for its exit. */
export function start(language) {
  const child = spawn(process.execPath, [run, language], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = linesOf(child.stdout);
  const exited = new Promise((resolve) => child.on("exit", resolve));
  // Write errors are ignored: if the program has exited, `ask` detects the end of its answers.
  child.stdin.on("error", () => {});
  return {
    language,
    async ask(cases) {
      child.stdin.write(cases.map((each, id) => `${JSON.stringify({ id: `${id}`, ...each })}\n`).join(""));
      const answers = [];
      for (const each of cases) {
        const { value: line, done } = await lines.next();
        if (done) {
          const status = await exited;
          const last = JSON.stringify(each).slice(0, 2000);
          throw Object.assign(new Error(`${language} ended with ${status} at ${last}`), { language, asked: each });
        }
        answers.push(JSON.parse(line));
      }
      return answers;
    },
    async end() {
      child.stdin.end();
      await exited;
    },
  };
}
