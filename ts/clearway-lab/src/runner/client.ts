// SPDX-License-Identifier: MIT OR Apache-2.0
// The lab's side of the protocol. It starts a runner, sends requests, waits for the answers, and ends the runner. Every failure is a
// RunnerError. A failed runner is killed with everything that it started in its process group.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex, Readable, Writable } from "node:stream";
import { CHANNEL_FD, LineTooLongError, readLines } from "../protocol/lines.js";
import type {
  CellRequest,
  Description,
  Json,
  Measurement,
  ProbeRequest,
  Request,
  Response,
  Verification,
} from "../protocol/message.js";
import { checkedDescription, checkedMeasurement, checkedVerification, RunnerError } from "./answers.js";

/** A command line that starts a runner. */
export interface RunnerCommand {
  command: string;
  args: string[];
  env?: Record<string, string>;
  /** Whether `command` is a line for the system's shell. `args` must then be empty. */
  shell?: boolean;
  /**
   * Whether the protocol has the descriptor CHANNEL_FD instead of stdin and stdout. Stdin is then empty, and what comes on stdout is kept
   * like stderr.
   */
  channel?: boolean;
}

/** Number of characters of stderr that are kept to explain a runner's end. The last ones are kept. */
const STDERR_KEPT = 4000;
/** Time for a runner to describe itself, in milliseconds. Firefox takes half a minute to start on a busy machine. */
const DESCRIBE_MS = 120_000;
/** Time between the end of a runner's output and its exit, in milliseconds. A runner that takes longer is killed. */
const EXIT_GRACE_MS = 2000;

type Unnumbered = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;

/** The runners that run. When the lab exits, it kills them: a runner in the middle of a measurement would not notice the lab's end. */
const running = new Set<RunnerClient>();
let killsAtExit = false;

export class RunnerClient {
  readonly #child: ChildProcess;
  readonly #requests: Writable;
  readonly #answers: Readable;
  readonly #waiting = new Map<number, { resolve(response: Response): void; reject(error: Error): void }>();
  #nextId = 1;
  #stderr = "";
  #ended: Error | undefined;
  #exited = false;

  constructor({ command, args, env, shell = false, channel = false }: RunnerCommand) {
    // A separate process group, so that Ctrl-C in the terminal reaches only the lab. The lab then ends its runners in order.
    this.#child = spawn(command, args, {
      stdio: channel ? ["ignore", "pipe", "pipe", "pipe"] : ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      shell,
      env: { ...process.env, ...env },
    });
    running.add(this);
    if (!killsAtExit) process.on("exit", killAll);
    killsAtExit = true;
    const { stdin, stdout, stderr, stdio } = this.#child;
    this.#requests = channel ? (stdio[CHANNEL_FD] as Duplex) : stdin!;
    this.#answers = channel ? (stdio[CHANNEL_FD] as Duplex) : stdout!;
    this.#keepPrints(stderr!);
    if (channel) this.#keepPrints(stdout!);
    this.#requests.on("error", () => {});
    this.#child.on("error", (error) => {
      if (this.#child.pid === undefined) running.delete(this);
      this.#end(new RunnerError("start", `the runner did not start: ${error.message}`));
    });
    this.#child.on("exit", (code, signal) => this.#onExit(code, signal));
    this.#child.on("close", (code, signal) => this.#end(this.#exitError(code, signal)));
    this.#read().catch((error: NodeJS.ErrnoException) => {
      // A channel whose process was killed before it read a request ends with this error. The process's end says why.
      if (error.code === "ECONNRESET") return;
      this.#end(readError(error));
      this.kill();
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Asks for the runner's description. Rejects with a RunnerError if its version is not the lab's. */
  async describe(timeoutMs = DESCRIBE_MS): Promise<Description> {
    return checkedDescription(await this.#ask({ op: "describe" }, timeoutMs));
  }

  async verify(cell: CellRequest, timeoutMs: number): Promise<Verification> {
    return checkedVerification(await this.#ask({ op: "verify", cell }, timeoutMs), cell);
  }

  /**
   * Measures a cell. Rejects with a RunnerError if the runner answers with an error or wrongly, ends, or does not answer within
   * `timeoutMs`. In the last case, kills the runner.
   */
  async measure(cell: CellRequest, timeoutMs: number): Promise<Measurement> {
    return checkedMeasurement(await this.#ask({ op: "measure", cell }, timeoutMs), cell);
  }

  /** Runs a probe. Rejects in the same cases as `measure`. */
  probe(probe: ProbeRequest, timeoutMs: number): Promise<Json> {
    return this.#ask({ op: "probe", probe }, timeoutMs) as Promise<Json>;
  }

  /** Closes the runner's stdin, which ends the runner. Kills the runner after `graceMs`. */
  async close(graceMs = 5000): Promise<void> {
    if (this.#exited || this.#child.pid === undefined) return;
    const exited = once(this.#child, "exit");
    this.#requests.end();
    const timer = setTimeout(() => this.kill(), graceMs);
    await exited;
    clearTimeout(timer);
  }

  /** Asks the runner to end at once, also in the middle of a measurement. `close` waits for its end. */
  interrupt(): void {
    if (this.#exited) return;
    this.#requests.end();
    this.#child.kill("SIGTERM");
  }

  /** Kills the runner and its process group. */
  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#exited) return;
    if (process.platform === "win32") this.#child.kill("SIGKILL");
    else killGroup(pid);
  }

  #keepPrints(prints: Readable): void {
    prints.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT);
    });
    prints.on("error", () => {});
  }

  async #read(): Promise<void> {
    for await (const line of readLines(this.#answers)) {
      const response = line as Response | null;
      const id = (response as { id?: unknown } | null)?.id;
      const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
      if (waiting === undefined || response === null)
        throw new RunnerError(
          "wrong-answer",
          `the runner sent an answer without a request: ${(JSON.stringify(line) ?? "").slice(0, 120)}`,
        );
      this.#waiting.delete(response.id);
      waiting.resolve(response);
    }
    // The runner can answer nothing any more. It normally exits at the same time.
    if (this.#exited) return;
    const timer = setTimeout(() => {
      this.#end(new RunnerError("ended", `the runner closed its output and did not exit${this.#lastWords()}`));
      this.kill();
    }, EXIT_GRACE_MS);
    this.#child.once("exit", () => clearTimeout(timer));
  }

  async #ask(request: Unnumbered, timeoutMs: number): Promise<unknown> {
    if (this.#ended !== undefined) throw this.#ended;
    const id = this.#nextId++;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const answer = new Promise<Response>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      timer = setTimeout(() => {
        const said = this.#lastWords();
        this.#end(
          new RunnerError(
            "silent",
            `the runner did not answer in time: timeoutMs=${timeoutMs} op=${request.op}${said}`,
          ),
        );
        this.kill();
      }, timeoutMs);
      this.#requests.write(JSON.stringify({ id, ...request }) + "\n");
    });
    const response = await answer.finally(() => clearTimeout(timer));
    if (response.ok === true) return response.result;
    const message: unknown =
      response.ok === false ? (response as { error?: { message?: unknown } }).error?.message : undefined;
    if (typeof message !== "string")
      throw new RunnerError("wrong-answer", 'the runner\'s answer has neither "ok": true nor an error with a message');
    throw new RunnerError("refused", message);
  }

  #exitError(code: number | null, signal: string | null): Error {
    return new RunnerError("ended", `the runner ended: code=${code} signal=${signal}${this.#lastWords()}`);
  }

  #lastWords(): string {
    const last = this.#stderr.trim().split("\n").slice(-6).join(" | ");
    return last === "" ? "" : ` stderr: ${last}`;
  }

  /**
   * Kills what the runner has left in its process group. A process that left the group may still hold the runner's output: the lab stops
   * to read it soon afterwards.
   */
  #onExit(code: number | null, signal: string | null): void {
    this.#exited = true;
    running.delete(this);
    const { pid } = this.#child;
    if (pid !== undefined && process.platform !== "win32") killGroup(pid);
    const timer = setTimeout(() => {
      this.#end(this.#exitError(code, signal));
      for (const stream of this.#child.stdio) stream?.destroy();
    }, EXIT_GRACE_MS);
    this.#child.once("close", () => clearTimeout(timer));
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

function killAll(): void {
  for (const runner of running) runner.kill();
}

/** Kills the processes of a group. There may be none left. */
function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch (error) {
    // macOS answers EPERM for a group whose last process has ended.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

function readError(error: Error): Error {
  if (error instanceof RunnerError) return error;
  if (error instanceof LineTooLongError)
    return new RunnerError("too-long", `the runner wrote too much: ${error.message}`);
  return new RunnerError(
    "not-json",
    `the runner's output must be the protocol alone, other text goes to stderr: ${error.message}`,
  );
}
