// SPDX-License-Identifier: MIT OR Apache-2.0
// Starts Flutter's engine for the conformance cases.
import { fileURLToPath } from "node:url";
import { startEngine } from "../../ts/clearway-lab/src/flutter/engine.mjs";
import { compilePeer, findFlutter } from "../../ts/clearway-lab/src/flutter/install.mjs";

const lab = fileURLToPath(new URL("../../ts/clearway-lab", import.meta.url));

/** Resolves with why there is no engine here, and the remedy; or with undefined if there is one. Starts it, for half a second. */
export async function flutterProblem() {
  try {
    const engine = await openFlutter();
    await engine.end();
    return undefined;
  } catch (error) {
    return error.message;
  }
}

/** Starts the engine. Rejects with the reason and the remedy if it cannot be started. */
export async function openFlutter() {
  const { folder, problem } = findFlutter(lab);
  if (problem !== undefined) throw new Error(problem);
  const compiled = compilePeer(lab);
  if (compiled.problem !== undefined) throw new Error(compiled.problem);
  try {
    return await startEngine({ program: compiled.program, folder });
  } finally {
    compiled.remove();
  }
}
