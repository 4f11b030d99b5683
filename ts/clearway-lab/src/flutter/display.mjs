// SPDX-License-Identifier: MIT OR Apache-2.0
// A virtual display of its own for each window, so that no window appears on the user's screen, and none of them depends on it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

const READY_MS_MAX = 15_000;
/** Time for its end, in milliseconds. Then it is killed. */
const END_MS_MAX = 2000;

/** Says what to install when there is no Xvfb. */
export const XVFB_MISSING = "Xvfb is missing: install it (Debian: apt-get install xvfb)";

/** Returns why there can be no display, and the remedy; or undefined. Starts nothing. */
export function displayProblem(programs = process.env["PATH"] ?? "") {
  const isThere = programs.split(path.delimiter).some((folder) => existsSync(path.join(folder, "Xvfb")));
  return isThere ? undefined : XVFB_MISSING;
}

/**
 * Starts Xvfb. Resolves with the display's name when clients can connect, and with `end`, which ends it and waits for its exit. Rejects
 * if it cannot be started, exits, or is not ready in time. No process is left then.
 *
 * @param {string} [program]
 * @returns {Promise<{ name: string, end(): Promise<void> }>}
 */
export async function startDisplay(program = "Xvfb", readyMsMax = READY_MS_MAX, endMsMax = END_MS_MAX) {
  // With -terminate, it ends with its last client, and so also if this process is killed: the engine ends with its parent.
  const args = ["-displayfd", "3", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-terminate"];
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const exited = new Promise((resolve) => {
    child.once("exit", resolve);
    child.once("error", resolve);
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const end = async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(kill, endMsMax);
    await exited;
    clearTimeout(timer);
    process.off("exit", kill);
  };
  let timer;
  try {
    const number = await new Promise((resolve, reject) => {
      let text = "";
      timer = setTimeout(() => reject(new Error(`Xvfb was not ready in time: readyMsMax=${readyMsMax}`)), readyMsMax);
      child.once("error", () => reject(new Error(XVFB_MISSING)));
      child.once("exit", (code, signal) => reject(new Error(`Xvfb ended: code=${code} signal=${signal}`)));
      child.stdio[3].setEncoding("utf8").on("data", (part) => {
        text += part;
        if (text.endsWith("\n")) resolve(Number(text));
      });
      child.stdio[3].on("error", () => {});
    });
    if (!Number.isInteger(number)) throw new Error("Xvfb did not tell the number of its display");
    return { name: `:${number}`, end };
  } catch (error) {
    kill();
    await end();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
