// SPDX-License-Identifier: MIT OR Apache-2.0
// Node as a host: each probe runs in a fresh process.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const child = fileURLToPath(new URL("node-child.mjs", import.meta.url));

/** Returns the host. `probe` runs one probe; `close` has nothing to end. */
export async function openNode() {
  return { name: "node", runtime: `Node ${process.version}`, probe, close: async () => {} };
}

/** Rejects with the probe's own error, when its process ends without an answer, and after `timeoutMs`. */
function probe(name, params, timeoutMs = 120_000) {
  return new Promise((resolve, reject) => {
    const made = fork(child, { execArgv: ["--max-old-space-size=8192"], serialization: "advanced" });
    const timer = setTimeout(() => made.kill("SIGKILL"), timeoutMs);
    made.once("message", ({ result, error }) => (error === undefined ? resolve(result) : reject(new Error(error))));
    made.once("error", reject);
    made.once("exit", (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`the probe ended without an answer: probe=${name} code=${code} signal=${signal}`));
    });
    made.send({ probe: name, params });
  });
}
