// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawn } from "node:child_process";

/**
 * Starts a program with its own process group, and ends the group with this process at the latest. Returns the child and `end`, which kills
 * the group and resolves when the program has exited.
 */
export function start(program, args, options = {}) {
  const child = spawn(program, args, { stdio: "ignore", ...options, detached: true });
  const kill = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The group has already ended.
    }
  };
  const exited = new Promise((resolve) => child.once("exit", resolve).once("error", resolve));
  process.once("exit", kill);
  return {
    child,
    exited,
    end: async () => {
      process.off("exit", kill);
      if (child.pid === undefined) return;
      kill();
      await exited;
    },
  };
}
