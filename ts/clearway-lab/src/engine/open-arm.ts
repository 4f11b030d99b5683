// SPDX-License-Identifier: MIT OR Apache-2.0
// Starts arms: a Node process, a JVM, or a page of its own in a browser. Pins their threads.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex, Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { LocalServer } from "../../../../scripts/local-server.mjs";
import type { PageArm } from "../arm/page.js";
import { type BrowserName, isBrowser, type OpenPage, type PageBrowser, startBrowser } from "../browser/open.js";
import { allowedCores, pinningProblem, threadsOf } from "../machine/cores.js";
import type { BrowserVersions } from "../machine/facts.js";
import type { Arm, ArmReply, ArmRequest, Cores, Costs } from "../protocol/arm.js";
import { CHANNEL_FD, readLines } from "../protocol/lines.js";
import { ARM_PAGE, servePage } from "../runner/page-server.js";
import { jvmArmCommand } from "../runner/runners.js";

/** Time for one answer, in milliseconds, if a command sets no other. The slowest slice is a hundred million records on a busy machine. */
const ANSWER_MS = 120_000;
/** Time between the request to end and a kill, in milliseconds. */
const END_MS = 3000;
const STDERR_KEPT = 2000;

/** Hosts that have arms. */
export type ArmHost = "node" | "jvm" | BrowserName;

/** Opens arms and owns what they share: the browsers of the run, and the processes that still run. */
export class Arms {
  readonly #running = new Set<ProcessArm | PageOfArm>();
  readonly #browsers = new Map<BrowserName, Promise<PageBrowser>>();
  #server: Promise<LocalServer> | undefined;
  readonly #env: Record<string, string>;
  readonly #programs: string | URL;
  /** Why threads cannot be pinned on this machine; undefined if they can. */
  readonly pinning = pinningProblem();

  /** `programs` is the folder with the built arms, for tests. */
  constructor(env: Record<string, string> = {}, programs: string | URL = import.meta.url) {
    this.#env = env;
    this.#programs = programs;
  }

  /** Opens an arm and waits until its mechanism is open. Rejects with the arm's reason. The caller ends the arm. */
  async open(host: ArmHost, name: string, cores: Cores): Promise<Arm> {
    if (isBrowser(host)) return this.#openPage(host, name);
    const command = host === "jvm" ? jvmArmCommand(name) : nodeArm(name, this.#programs);
    if (typeof command === "string") throw new Error(command);
    return this.start({ ...command, cores: this.pinning === undefined ? allowedCores().slice(0, 2) : [] }, cores);
  }

  /** Starts a program as an arm, as `open` does. Without cores of its own, it runs where the scheduler puts it. */
  async start(command: ArmCommand, cores: Cores): Promise<Arm> {
    const arm = new ProcessArm(command, this.#env, () => this.#running.delete(arm));
    this.#running.add(arm);
    try {
      await arm.ready;
    } catch (error) {
      await arm.end();
      throw error;
    }
    arm.pin(cores);
    return arm;
  }

  /** Returns the versions of the browsers in which arms have run, without the browsers' names. */
  async browserVersions(): Promise<BrowserVersions> {
    const versions = await Promise.all(
      [...this.#browsers].map(async ([name, started]) => {
        const browser = await started.catch(() => undefined);
        return [name, browser?.version?.split(" ").at(-1)];
      }),
    );
    return Object.fromEntries(versions);
  }

  /** Ends every arm that still runs, in the middle of its work: what it was asked is rejected. `close` must follow. */
  interrupt(): void {
    for (const arm of this.#running) arm.kill();
  }

  /** Ends every arm that still runs, and the browsers. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((arm) => arm.end()));
    const browsers = await Promise.all([...this.#browsers.values()].map((browser) => browser.catch(() => undefined)));
    await Promise.all(browsers.map((browser) => browser?.close()));
    await (await this.#server?.catch(() => undefined))?.close();
  }

  async #openPage(name: BrowserName, arm: string): Promise<Arm> {
    const started = this.#browsers.get(name) ?? startBrowser(name);
    this.#browsers.set(name, started);
    this.#server ??= servePage(this.#programs);
    const page = await (await started).open((await this.#server).url + ARM_PAGE, "arm");
    const opened = new PageOfArm(page, () => this.#running.delete(opened));
    this.#running.add(opened);
    try {
      await opened.open(arm);
    } catch (error) {
      await opened.end();
      throw error;
    }
    return opened;
  }
}

/** An arm in a page. */
export class PageOfArm implements Arm {
  readonly #page: OpenPage;
  readonly #ended: () => void;
  #killed: (error: Error) => void = () => {};

  constructor(page: OpenPage, ended: () => void) {
    this.#page = page;
    this.#ended = ended;
  }

  open(name: string): Promise<void> {
    return this.#within(
      this.#page.evaluate((name) => (globalThis as unknown as { arm: PageArm }).arm.open(name), name),
    );
  }

  warm(work: string, calls: number, cpuMs: number): Promise<Costs> {
    return this.#ask({ op: "warm", work, calls, cpuMs });
  }

  slice(work: string, ms: number, runs: number): Promise<Costs> {
    return this.#ask({ op: "slice", work, ms, runs });
  }

  pin(): void {}

  async end(): Promise<void> {
    this.#ended();
    // A page that does not answer may not close either. It ends with its browser.
    await Promise.race([this.#page.close(), sleep(END_MS, undefined, { ref: false })]);
  }

  kill(): void {
    this.#killed(new Error("the arm was ended"));
  }

  async #ask(request: ArmRequest): Promise<Costs> {
    const answer = this.#page.evaluate(
      async (text) => JSON.stringify(await (globalThis as unknown as { arm: PageArm }).arm.answer(JSON.parse(text))),
      JSON.stringify(request),
    );
    return costsOf(await this.#within(answer));
  }

  #within<T>(answer: Promise<T>): Promise<T> {
    const killed = new Promise<never>((_, reject) => {
      this.#killed = reject;
    });
    return within(Promise.race([answer, killed]), ANSWER_MS, silentFor(ANSWER_MS));
  }
}

const silentFor = (ms: number): string => `the arm did not answer in time: timeoutMs=${ms}`;

/** Settles as the answer does, or rejects after this time. */
async function within<T>(answer: Promise<T>, ms: number, silent: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(silent)), ms);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

export interface ArmCommand {
  command: string;
  args: string[];
  env?: Record<string, string>;
  /** The cores of its threads. */
  cores?: readonly number[];
  /** Time for one answer, in milliseconds, and what is said of an arm that does not answer in time. */
  answerMs?: number;
  silent?: string;
  /** Whether the protocol has the standard streams instead of a descriptor of its own. */
  standard?: boolean;
}

const nodeArm = (name: string, programs: string | URL): ArmCommand => ({
  command: process.execPath,
  // A million records are several hundred MB twice.
  args: ["--max-old-space-size=4096", fileURLToPath(new URL("./arm-node.js", programs)), name],
});

class ProcessArm implements Arm {
  readonly ready: Promise<unknown>;
  readonly #child: ChildProcess;
  readonly #out: Writable;
  readonly #answers: AsyncGenerator<unknown>;
  readonly #cores: readonly number[];
  readonly #answerMs: number;
  readonly #silent: string;
  #stderr = "";
  #startError: Error | undefined;

  constructor({ command, args, standard = false, cores = [], ...rest }: ArmCommand, env: object, ended: () => void) {
    this.#cores = cores;
    this.#answerMs = rest.answerMs ?? ANSWER_MS;
    this.#silent = rest.silent ?? silentFor(this.#answerMs);
    const pinned = cores.length === 0 ? [command, ...args] : ["taskset", "-c", cores.join(","), command, ...args];
    // A separate process group, so that Ctrl-C in the terminal reaches only the lab, which ends its arms.
    this.#child = spawn(pinned[0]!, pinned.slice(1), {
      stdio: standard ? ["pipe", "pipe", "pipe"] : ["ignore", "ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
      env: { ...process.env, ...env, ...rest.env },
    });
    this.#child.on("error", (error) => {
      this.#startError = error;
    });
    this.#child.once("exit", ended);
    this.#child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT);
    });
    const channel = this.#child.stdio[CHANNEL_FD] as Duplex | undefined;
    this.#out = standard ? this.#child.stdin! : channel!;
    this.#out.on("error", () => {});
    this.#answers = readLines((standard ? this.#child.stdout : channel) as Readable);
    this.ready = this.#next();
    this.ready.catch(() => {});
  }

  warm(work: string, calls: number, cpuMs: number): Promise<Costs> {
    return this.#ask({ op: "warm", work, calls, cpuMs });
  }

  slice(work: string, ms: number, runs: number): Promise<Costs> {
    return this.#ask({ op: "slice", work, ms, runs });
  }

  pin(cores: Cores): void {
    const { pid } = this.#child;
    const [first, second] = this.#cores;
    if (pid === undefined || first === undefined || second === undefined) return;
    for (const thread of threadsOf(pid)) {
      const core =
        cores === "free" ? `${first},${second}` : cores === "one" || thread === pid ? String(first) : String(second);
      try {
        execFileSync("taskset", ["-pc", core, String(thread)], { stdio: "ignore" });
      } catch (error) {
        // A thread that has ended in the meantime needs no core.
        if (threadsOf(pid).includes(thread)) throw error;
      }
    }
  }

  async end(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined) return;
    if (exitCode === null && signalCode === null) {
      const exited = once(this.#child, "exit");
      this.#out.write(JSON.stringify({ op: "end" } satisfies ArmRequest) + "\n");
      this.#out.end();
      const timer = setTimeout(() => kill(pid), END_MS);
      await exited;
      clearTimeout(timer);
    }
    // What the arm has left behind in its group.
    kill(pid);
  }

  kill(): void {
    const { pid } = this.#child;
    if (pid !== undefined) kill(pid);
  }

  async #ask(request: ArmRequest): Promise<Costs> {
    // An arm that has ended cannot be written to; the missing answer says so.
    if (this.#out.writable) this.#out.write(JSON.stringify(request) + "\n");
    return costsOf(await this.#next());
  }

  async #next(): Promise<unknown> {
    const answer = this.#answers.next().catch((error: NodeJS.ErrnoException) => {
      // The channel of an arm that was killed ends like this.
      if (error.code === "ECONNRESET") return { value: undefined, done: true as const };
      throw error;
    });
    const { value, done } = await within(answer, this.#answerMs, this.#silent);
    if (done !== true) return checkedReply(value);
    const last = this.#stderr.trim().split("\n").at(-1);
    throw new Error(this.#startError?.message ?? `the arm ended: ${last || "it printed nothing"}`);
  }
}

/** Throws an arm's reason. */
function checkedReply(reply: unknown): unknown {
  const failed = (reply as { failed?: unknown } | null)?.failed;
  if (failed !== undefined) throw new Error(String(failed));
  return reply;
}

function costsOf(reply: unknown): Costs {
  const found = checkedReply(typeof reply === "string" ? JSON.parse(reply) : reply) as Partial<Costs> & ArmReply;
  const { costsNs, cpuMs } = found as Partial<Costs>;
  const isCost = (ns: unknown): boolean => typeof ns === "number" && ns > 0;
  if (!Array.isArray(costsNs) || !costsNs.every(isCost) || typeof cpuMs !== "number")
    throw new Error(`the arm's answer is not one: ${JSON.stringify(found).slice(0, 120)}`);
  return found as Costs;
}

/** Kills a process group. There may be none left. */
function kill(pid: number): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch (error) {
    // macOS answers EPERM for a group whose last process has ended.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
