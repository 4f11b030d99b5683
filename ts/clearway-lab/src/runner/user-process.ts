// SPDX-License-Identifier: MIT OR Apache-2.0
// The lab's side of a process with a user's code. Each request gets a new process. After the answer, the process and everything that it
// started is ended.
import { fileURLToPath } from "node:url";
import { CLOSING_MS_MAX, SETTINGS_VARIABLE, type UserCodeSettings } from "../bench/steps.js";
import type { ArmCommand } from "../engine/open-arm.js";
import { CHANNEL_FD } from "../protocol/lines.js";
import type { Json } from "../protocol/message.js";
import type { RunnerError } from "./answers.js";
import { RunnerClient } from "./client.js";

/** Time that a process gets beyond the limits of its steps, in milliseconds. A process that still has not answered blocks its thread. */
const GRACE_MS = 1000;

/** Returns how long a process may take to answer, in milliseconds: all its steps, and those that close what others opened. */
export function requestMsMax(timeoutMs: number): number {
  return timeoutMs + CLOSING_MS_MAX + GRACE_MS;
}

export class UserProcesses {
  readonly #settings: UserCodeSettings;
  readonly #current = new Set<RunnerClient>();

  constructor(settings: UserCodeSettings) {
    this.#settings = settings;
  }

  /** Asks a new process, which has the limit for its answer. */
  probe(name: string, params: Json): Promise<Json> {
    const timeoutMs = requestMsMax(this.#settings.timeoutMs);
    return this.#with((runner) => runner.probe({ name, params }, timeoutMs));
  }

  /** Kills the processes at once, and everything that they started. */
  interrupt(): void {
    for (const runner of this.#current) killGroup(runner);
  }

  async #with<T>(use: (runner: RunnerClient) => Promise<T>): Promise<T> {
    const runner = new RunnerClient({ ...userCommand(this.#settings), channel: true });
    this.#current.add(runner);
    // A lab that ends early leaves no process behind.
    const end = () => killGroup(runner);
    process.once("exit", end);
    try {
      // The limit counts from here: it does not include the start of the process.
      await runner.describe();
      return await use(runner);
    } catch (error) {
      throw new Error(plainMessage(error as RunnerError, this.#settings.timeoutMs));
    } finally {
      await runner.close();
      // The way may have started processes and left them running.
      end();
      process.off("exit", end);
      this.#current.delete(runner);
    }
  }
}

function userCommand(settings: UserCodeSettings) {
  return {
    command: process.execPath,
    args: [
      ...["--enable-source-maps", "--max-old-space-size=8192"],
      fileURLToPath(new URL("./runner-user-code.js", import.meta.url)),
    ],
    env: { [SETTINGS_VARIABLE]: JSON.stringify(settings) },
  };
}

/** Returns the command of an arm that serves a way of a user's scenario. */
export function wayCommand(settings: UserCodeSettings & { way: string }): ArmCommand {
  const { timeoutMs } = settings;
  return { ...userCommand(settings), answerMs: requestMsMax(timeoutMs), silent: blockedText(timeoutMs) };
}

const blockedText = (timeoutMs: number): string =>
  `it blocked its thread for more than ${timeoutMs / 1000} s; --timeout sets this limit`;

/** Kills the process group of a runner. A runner is the leader of its group, except on Windows. */
function killGroup({ pid }: RunnerClient): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // The group has ended already.
  }
}

/** Explains what happened to a process, for a reader who does not know the runner's protocol. */
function plainMessage({ code, message }: RunnerError, timeoutMs: number): string {
  if (code === "silent") return blockedText(timeoutMs);
  const ended = /^the runner ended: code=(\S+) signal=(\S+)(?: stderr: (.*))?$/s.exec(message);
  if (ended !== null) {
    const [, code, signal, stderr] = ended;
    const how = code === "null" ? `was killed by ${signal}` : `ended with status ${code}`;
    return `its process ${how} before it answered${stderr === undefined ? "" : `: ${stderr}`}`;
  }
  if (code === "not-json" || code === "too-long")
    return `it wrote to the descriptor ${CHANNEL_FD} of its process, which is the lab's`;
  return message;
}
