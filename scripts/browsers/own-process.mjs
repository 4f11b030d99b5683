// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawn } from "node:child_process";

/**
 * Starts a program that ends with this process at the latest. It stays in this process's group, so that what ends a stage of `make test` ends
 * it, too. With `detached`, it has a group of its own, which Ctrl-C does not reach and which ends as a whole. Returns the child, `exited`, and
 * `end`, which kills the program and resolves when it has exited.
 */
export function start(program, args, options = {}) {
  const child = spawn(program, args, { stdio: "ignore", ...options });
  const kill = () => {
    if (options.detached !== true || child.pid === undefined) return child.kill("SIGKILL");
    try {
      return process.kill(-child.pid, "SIGKILL");
    } catch (error) {
      // None of the group is left.
      if (error.code !== "ESRCH") throw error;
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
