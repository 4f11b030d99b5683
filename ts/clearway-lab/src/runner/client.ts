// SPDX-License-Identifier: MIT OR Apache-2.0
// The lab's side of the protocol. It starts a runner, sends requests, waits for the answers, and ends the runner.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readLines } from "../protocol/lines.js";
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

/** A command line that starts a runner. */
export interface RunnerCommand {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

/** Number of characters of stderr that are kept to explain a runner's end. The last ones are kept. */
const STDERR_KEPT = 4000;

type Unnumbered = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;

export class RunnerClient {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(response: Response): void; reject(error: Error): void }>();
  #nextId = 1;
  #stderr = "";
  #ended: Error | undefined;

  constructor({ command, args, env }: RunnerCommand) {
    // A separate process group, so that Ctrl-C in the terminal reaches only the lab. The lab then ends its runners in order.
    this.#child = spawn(command, args, {
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      env: { ...process.env, ...env },
    });
    this.#child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT);
    });
    this.#child.stdin!.on("error", () => {});
    this.#child.on("error", (error) => this.#end(error));
    this.#child.on("exit", (code, signal) => this.#end(this.#exitError(code, signal)));
    this.#read().catch((error: unknown) => {
      this.#end(error as Error);
      this.kill();
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  describe(): Promise<Description> {
    return this.#ask({ op: "describe" }, 30_000) as Promise<Description>;
  }

  verify(cell: CellRequest, timeoutMs: number): Promise<Verification> {
    return this.#ask({ op: "verify", cell }, timeoutMs) as Promise<Verification>;
  }

  /**
   * Measures a cell. Rejects if the runner answers with an error, ends, or does not answer within `timeoutMs`. In the last case, kills
   * the runner.
   */
  measure(cell: CellRequest, timeoutMs: number): Promise<Measurement> {
    return this.#ask({ op: "measure", cell }, timeoutMs) as Promise<Measurement>;
  }

  /** Runs a probe. Rejects in the same cases as `measure`. */
  probe(probe: ProbeRequest, timeoutMs: number): Promise<Json> {
    return this.#ask({ op: "probe", probe }, timeoutMs) as Promise<Json>;
  }

  /** Closes the runner's stdin, which ends the runner. Kills the runner after `graceMs`. */
  async close(graceMs = 5000): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) return;
    const exited = once(this.#child, "exit");
    this.#child.stdin!.end();
    const timer = setTimeout(() => this.kill(), graceMs);
    await exited;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async #read(): Promise<void> {
    for await (const line of readLines(this.#child.stdout!)) {
      const response = line as Response;
      this.#waiting.get(response.id)?.resolve(response);
      this.#waiting.delete(response.id);
    }
  }

  async #ask(request: Unnumbered, timeoutMs: number): Promise<unknown> {
    if (this.#ended !== undefined) throw this.#ended;
    const id = this.#nextId++;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const answer = new Promise<Response>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      timer = setTimeout(() => {
        reject(new Error(`the runner did not answer in time: timeoutMs=${timeoutMs} op=${request.op}`));
        this.kill();
      }, timeoutMs);
      this.#child.stdin!.write(JSON.stringify({ id, ...request }) + "\n");
    });
    const response = await answer.finally(() => clearTimeout(timer));
    if (response.ok) return response.result;
    throw new Error(response.error.message);
  }

  #exitError(code: number | null, signal: string | null): Error {
    const last = this.#stderr.trim().split("\n").slice(-6).join(" | ");
    return new Error(`the runner ended: code=${code} signal=${signal}${last === "" ? "" : " stderr: " + last}`);
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}
