// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses the runners. Node, Flutter and Swift get a new process for every measurement, and a browser one process for the run. The JVM has one
// runner, which starts the measuring JVMs itself. A runner that the user named gets a new process for every measurement.
import { fileURLToPath } from "node:url";
import { isBrowser } from "../browser/open.js";
import { keepOnTwoCores, oneCoreCommand, pinningProblem, type RunnerCores, watchCores } from "../machine/cores.js";
import { ON_ONE_CORE } from "../protocol/measured.js";
import type { CellRequest, Description, HostName, Json, Measurement, ProbeRequest } from "../protocol/message.js";
import { RunnerClient, type RunnerCommand } from "./client.js";
import { findJvmRunner, findSwiftRunner } from "./find.js";

/**
 * Returns the command of a host's runner. CLEARWAY_LAB_RUNNER replaces every runner by another program that speaks the protocol. Tests
 * use it.
 */
export function runnerCommand(host: HostName, jdk?: number): RunnerCommand {
  const given = process.env["CLEARWAY_LAB_RUNNER"];
  if ((host === "jvm" || host === "swift") && given === undefined) {
    const found = host === "jvm" ? findJvmRunner(jdk) : findSwiftRunner();
    if (typeof found === "string") throw new Error(found);
    return { ...found, env: { CLEARWAY_LAB_HOST: host, ...found.env } };
  }
  const program = given ?? fileURLToPath(new URL(`./runner-${isBrowser(host) ? "browser" : host}.js`, import.meta.url));
  // The heap limit is raised for scenarios that hold some hundred MB of objects twice. Node gets no other option.
  return { command: process.execPath, args: ["--max-old-space-size=8192", program], env: { CLEARWAY_LAB_HOST: host } };
}

/** The commands of runners that the lab does not have itself, by the names of their hosts. A shell runs each command. */
export type ForeignRunners = Readonly<Record<string, string>>;

/** The lab's own hosts that get a new process for every measurement. */
const FRESH: ReadonlySet<HostName> = new Set(["node", "flutter", "swift"]);

/** Makes a measurement of process `pid`. Adds the share of the time in which its main thread and its busiest other thread had one core. */
async function withCores(pid: number, measure: () => Promise<Measurement>): Promise<Measurement> {
  const end = watchCores(pid);
  let share: number | undefined;
  const measurement = await measure().finally(() => {
    share = end();
  });
  if (share === undefined) return measurement;
  return { ...measurement, values: { ...measurement.values, [ON_ONE_CORE]: { unit: "%", value: share } } };
}

export class Runners {
  readonly #lasting = new Map<HostName, RunnerClient>();
  readonly #env: Record<string, string>;
  readonly #jdk: number | undefined;
  readonly #foreign: ForeignRunners;
  /** The runners of single measurements that run now. There may be several. */
  readonly #current = new Set<RunnerClient>();

  /** Whether threads cannot be pinned here, so that each measurement in Node says on which cores they were. */
  readonly #watchesCores = pinningProblem() !== undefined;

  /** Creates the runners. `jdk` is the release for the JVM's runner; the default is the newest. */
  constructor(env: Record<string, string> = {}, jdk?: number, foreign: ForeignRunners = {}) {
    this.#env = env;
    this.#jdk = jdk;
    this.#foreign = foreign;
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
        if (this.#watchesCores && host === "node" && runner.pid !== undefined)
          return withCores(runner.pid, () => runner.measure(cell, timeoutMs));
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

  /**
   * Ends the measurements that run now, so that an interrupted lab does not wait for them. Kills the runners of single measurements. Asks
   * the others to end, because they first have to close a browser or other JVMs.
   */
  interrupt(): void {
    for (const runner of this.#current) runner.kill();
    for (const runner of this.#lasting.values()) runner.interrupt();
  }

  /** Calls `use` with a runner. `prefix` is put before the runner's command. */
  async #with<T>(
    host: HostName,
    use: (runner: RunnerClient) => Promise<T>,
    prefix: readonly string[] = [],
  ): Promise<T> {
    const fresh = FRESH.has(host) || this.#isForeign(host);
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

  #isForeign(host: HostName): boolean {
    return Object.hasOwn(this.#foreign, host);
  }

  #start(host: HostName, prefix: readonly string[]): RunnerClient {
    if (this.#isForeign(host)) {
      const env = { CLEARWAY_LAB_HOST: host, ...this.#env };
      return new RunnerClient({ command: this.#foreign[host] as string, args: [], shell: true, env });
    }
    const { command, args, env } = runnerCommand(host, this.#jdk);
    const [program = command, ...rest] = [...prefix, command, ...args];
    return new RunnerClient({ command: program, args: rest, env: { ...env, ...this.#env } });
  }
}
