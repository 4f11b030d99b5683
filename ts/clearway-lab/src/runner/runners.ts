// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds and chooses the runners. Node, Flutter and Swift get a new process for every measurement, and a browser one process for the run. The JVM
// has one runner, which starts the measuring JVMs itself. A runner that the user named gets a new process for every measurement.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isBrowser } from "../browser/open.js";
import { findFlutter } from "../flutter/install.mjs";
import { keepOnTwoCores, oneCoreCommand, pinningProblem, type RunnerCores, watchCores } from "../machine/cores.js";
import { packageRoot } from "../machine/optional-packages.js";
import { ON_ONE_CORE } from "../protocol/measured.js";
import type { CellRequest, Description, HostName, Json, Measurement, ProbeRequest } from "../protocol/message.js";
import { RunnerClient, type RunnerCommand } from "./client.js";

/**
 * Returns the command of a host's runner. CLEARWAY_LAB_RUNNER replaces every runner by another program that speaks the protocol. Tests
 * use it.
 */
function runnerCommand(host: HostName, jdk?: number): RunnerCommand {
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

// Finds the runners for the JVM, Swift and Flutter.

/** The file that `node scripts/jvm-lab.mjs` writes. */
interface JvmBuilt {
  classpath: string[];
  /** System properties for the runner and its forks: the paths of the native parts. */
  properties?: Record<string, string>;
  /** JDK homes by feature release. */
  jdks: Record<string, string>;
}

/** The environment variable with the path of such a file. The default is the repository's file. */
const JVM_VARIABLE = "CLEARWAY_LAB_JVM";

export const JVM_MISSING =
  "the JVM's runner is not built: it needs a JDK 17 or newer and Maven (apt-get install -y --no-install-recommends openjdk-17-jdk-headless maven), then, in Clearway's repository, node scripts/jvm-lab.mjs";

/** JVM options of the router. The router only forwards lines and should take few resources from the measuring processes. */
const ROUTER_OPTIONS = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/** The release from which the JVM warns on stderr about each of JMH's uses of Unsafe. */
const UNSAFE_WARNS = 23;
const UNSAFE_QUIET = "--sun-misc-unsafe-memory-access=allow";

/** JVM options of an arm: the JVM's default collector and compilers, and a heap of fixed size. */
const ARM_OPTIONS = ["-Xms512m", "-Xmx512m"];

/**
 * Returns the command that starts the runner on the newest JDK, or on the requested release. If there is none, returns the reason.
 */
export function findJvmRunner(release?: number): RunnerCommand | string {
  return javaCommand(ROUTER_OPTIONS, ["clearway.lab.MainKt"], release);
}

/** Returns the command that starts an arm on the newest JDK. It speaks the arms' protocol on its standard streams. */
export function jvmArmCommand(arm: string): (RunnerCommand & { standard: true }) | string {
  const command = javaCommand(ARM_OPTIONS, ["clearway.lab.arm.ArmKt", arm]);
  return typeof command === "string" ? command : { ...command, standard: true };
}

function javaCommand(options: readonly string[], program: readonly string[], release?: number): RunnerCommand | string {
  const file = process.env[JVM_VARIABLE] ?? path.join(packageRoot(), "../../jvm/lab/target/runner.json");
  if (!existsSync(file)) return JVM_MISSING;
  const { classpath, jdks, properties = {} } = JSON.parse(readFileSync(file, "utf8")) as JvmBuilt;
  const releases = Object.keys(jdks).map(Number);
  const chosen = release ?? Math.max(...releases);
  const home = jdks[chosen];
  if (home === undefined || !existsSync(home))
    return `no JDK ${chosen} was found when the runner was built; there were: ${releases.join(", ")}. Add one, then node scripts/jvm-lab.mjs`;
  return {
    command: path.join(home, "bin/java"),
    args: [
      ...options,
      ...(chosen >= UNSAFE_WARNS ? [UNSAFE_QUIET] : []),
      ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
      "-cp",
      classpath.join(path.delimiter),
      ...program,
    ],
  };
}

/** The file that `node scripts/swift-lab.mjs` writes. */
interface SwiftBuilt {
  program: string;
  /** The compiler's version, such as "6.0.3". */
  version: string;
  /** The paths of the example plugin and of libclearway. A file may be missing; the cells that need it then report that. */
  plugin?: string;
  library?: string;
}

/** The environment variable with the path of such a file. The default is the repository's file. */
const SWIFT_VARIABLE = "CLEARWAY_LAB_SWIFT";

export const SWIFT_MISSING =
  "the runner for Swift is not built: in Clearway's repository, scripts/setup.sh swift adds Swift 6, and node scripts/swift-lab.mjs builds the runner";

/** Returns the command that starts the runner. If there is none, returns the reason. */
export function findSwiftRunner(): RunnerCommand | string {
  const file = process.env[SWIFT_VARIABLE] ?? path.join(packageRoot(), "../../swift/.build/lab/runner.json");
  if (!existsSync(file)) return SWIFT_MISSING;
  const { program, version, plugin, library } = JSON.parse(readFileSync(file, "utf8")) as SwiftBuilt;
  if (!existsSync(program)) return SWIFT_MISSING;
  const env = {
    CLEARWAY_LAB_SWIFT_VERSION: `Swift ${version}`,
    ...(plugin && { CLEARWAY_LAB_PLUGIN: plugin }),
    ...(library && { CLEARWAY_LIBRARY: library }),
  };
  return { command: program, args: [], env };
}

/** Returns why the host `flutter` is not installed here, and the remedy; or undefined. Whether it works, its runner says. */
export function flutterMissing(): string | undefined {
  return findFlutter(packageRoot()).problem;
}
