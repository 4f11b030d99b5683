// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes a finished run. If its folder cannot be written any more, keeps the run in another folder, because a run may have taken hours.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { FailedError } from "./errors.js";
import { readableError } from "./out-folder.js";

/**
 * Calls `write` with the folder. If the file system refuses, calls it with a new folder for temporary files and throws a FailedError that
 * names it.
 */
export async function keepRun(folder: string, write: (folder: string) => Promise<void>): Promise<void> {
  try {
    await write(folder);
  } catch (error) {
    const problem = readableError(error, folder);
    if (!(problem instanceof FailedError)) throw error;
    let kept: string;
    try {
      kept = mkdtempSync(path.join(tmpdir(), "clearway-lab-run-"));
      await write(kept);
    } catch {
      throw problem;
    }
    throw new FailedError(`${problem.reason}; the run is kept in ${kept}`, problem.next);
  }
}
