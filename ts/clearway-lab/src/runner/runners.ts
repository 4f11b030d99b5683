// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses the runners. Node gets a new process for every measurement, and Chromium one browser for the run. The JVM has one runner,
// which starts the measuring JVMs itself.
import { fileURLToPath } from "node:url";
import { keepOnTwoCores, oneCoreCommand, type RunnerCores } from "../machine/thread-pin.js";
import type { CellRequest, Description, HostName, Json, Measurement, ProbeRequest } from "../protocol/message.js";
import { RunnerClient, type RunnerCommand } from "./client.js";
import { findJvmRunner } from "./jvm-find.js";

/**
 * Returns the command of a host's runner. CLEARWAY_LAB_RUNNER replaces every runner by another program that speaks the protocol. Tests
 * use it.
 */
export function runnerCommand(host: HostName, jdk?: number): RunnerCommand {
  const given = process.env["CLEARWAY_LAB_RUNNER"];
  if (host === "jvm" && given === undefined) {
    const found = findJvmRunner(jdk);
    if (typeof found === "string") throw new Error(found);
    return found;
  }
  const program = given ?? fileURLToPath(new URL(`./runner-${host}.js`, import.meta.url));
  // The heap limit is raised for scenarios that hold some hundred MB of objects twice. Node gets no other option.
  return { command: process.execPath, args: ["--max-old-space-size=8192", program], env: { CLEARWAY_LAB_HOST: host } };
}

export class Runners {
  readonly #lasting = new Map<HostName, RunnerClient>();
  readonly #env: Record<string, string>;
  readonly #jdk: number | undefined;
  /** The runners of single measurements that run now. There may be several: the profile `promises` measures idle pools concurrently. */
  readonly #current = new Set<RunnerClient>();

  /** Creates the runners. `jdk` is the release for the JVM's runner; the default is the newest. */
  constructor(env: Record<string, string> = {}, jdk?: number) {
    this.#env = env;
    this.#jdk = jdk;
  }

  describe(host: HostName): Promise<Description> {
    return this.#with(host, (runner) => runner.describe());
  }

  /** Measures a cell. With `cores`, pins the threads of the runner, which must be that of host `node`. */
  measure(host: HostName, cell: CellRequest, timeoutMs: number, cores?: RunnerCores): Promise<Measurement> {
    return this.#with(
      host,
      async (runner) => {
        const unpin = cores === "two" && runner.pid !== undefined ? keepOnTwoCores(runner.pid) : undefined;
        return runner.measure(cell, timeoutMs).finally(unpin);
      },
      cores === "one" ? oneCoreCommand() : [],
    );
  }

  probe(host: HostName, probe: ProbeRequest, timeoutMs: number): Promise<Json> {
    return this.#with(host, (runner) => runner.probe(probe, timeoutMs));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lasting.values()].map((runner) => runner.close()));
    this.#lasting.clear();
  }

  /** Kills the runners of single measurements at once, so that an interrupted lab does not wait for them. */
  interrupt(): void {
    for (const runner of this.#current) runner.kill();
  }

  /** Calls `use` with a runner. `prefix` is put before the runner's command. */
  async #with<T>(
    host: HostName,
    use: (runner: RunnerClient) => Promise<T>,
    prefix: readonly string[] = [],
  ): Promise<T> {
    const fresh = host === "node";
    const runner = (fresh ? undefined : this.#lasting.get(host)) ?? this.#start(host, prefix);
    if (!fresh) this.#lasting.set(host, runner);
    if (fresh) this.#current.add(runner);
    try {
      return await use(runner);
    } catch (error) {
      // A lasting runner that failed may be in any state, so the next measurement gets a new one.
      if (!fresh) {
        this.#lasting.delete(host);
        await runner.close();
      }
      throw error;
    } finally {
      this.#current.delete(runner);
      if (fresh) await runner.close();
    }
  }

  #start(host: HostName, prefix: readonly string[]): RunnerClient {
    const { command, args, env } = runnerCommand(host, this.#jdk);
    const [program = command, ...rest] = [...prefix, command, ...args];
    return new RunnerClient({ command: program, args: rest, env: { ...env, ...this.#env } });
  }
}
