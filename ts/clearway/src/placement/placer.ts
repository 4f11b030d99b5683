// SPDX-License-Identifier: MIT OR Apache-2.0

import { parent } from "#host";
import type { ClearwayError } from "../error/clearway-error.js";
import { messageOf } from "../error/message-of.js";
import { within } from "../lazy/timer.js";
import { definitionOfTask, type TaskDefinition } from "../task/task.js";
import { type Advice, advise } from "./advice.js";
import type { CallProfile } from "./call-profile.js";
import { InlineGrant } from "./inline-grant.js";
import { argumentClass, Model } from "./model.js";
import type { PlacedOptions, PlacedTask, Placement, PlacerOwner } from "./owner.js";
import { Inline } from "./run-inline.js";
import { Traffic } from "./traffic.js";
import { type Clock, Turn, threadClock } from "./turn.js";

// After an unexplained run over the budget, the CPU time is read at the beginning of each burst, until inline runs within the budget have
// taken this long: four times the interval between two pauses of a busy machine (25 ms). Reading it costs 0.6 to 1.6 us per burst, so it is
// not read without a reason.
const suspiciousUs = 100_000;

/** The task module on the caller's thread, or why it is not there. */
export type LoadedModule = { tasks: ReadonlyMap<string, TaskDefinition> } | { why: string };

/** Imports the task module into the caller's thread. Never rejects. Without it, every call goes to a worker, and the advisor says why. */
export async function loadModule(
  source: PlacerOwner["source"],
  load: (() => Promise<unknown>) | undefined,
): Promise<LoadedModule> {
  try {
    if (load === undefined && typeof source === "function") {
      return { why: 'the pool was made with a factory; give it `module: () => import("./x.tasks.js")` as well' };
    }
    // Bundlers must not change this import: it has the URL that the workers load.
    const module = await (load ? load() : import(/* @vite-ignore */ /* webpackIgnore: true */ urlOf(source as string)));
    const tasks = (module as { default?: unknown } | null)?.default;
    if (tasks === null || typeof tasks !== "object") return { why: "the module exports no tasks by default" };
    return { tasks: new Map(Object.entries(tasks).map(([name, fn]) => [name, definitionOfTask(name, fn)])) };
  } catch (reason) {
    return {
      why: `the module cannot be loaded on this thread: ${messageOf(reason)}`,
    };
  }
}

// A worker's URL is relative to the page or the working directory. An import's would be relative to this file.
function urlOf(source: URL | string): string {
  if (typeof source !== "string" || /^[a-z]+:/.test(source)) return String(source);
  const { document, location, process } = globalThis as {
    document?: { baseURI: string };
    location?: { href: string };
    process?: { cwd(): string };
  };
  return new URL(source, document?.baseURI ?? location?.href ?? `file://${process?.cwd()}/`).href;
}

/** Called when a call that went to a worker is over. `runUs`: its run time in microseconds, or -1 without an answer. */
export type Answered = (runUs: number) => void;

/** What placement knows about a task. */
interface Known {
  readonly model: Model;
  readonly definition: TaskDefinition | undefined;
  readonly answered: Map<CallProfile, Answered>;
}

/** Decides for each call whether it runs inline or in a worker, and runs inline calls. */
export class Placer {
  readonly #owner: PlacerOwner;
  readonly #clock: Clock;
  readonly #turn: Turn;
  readonly #traffic = new Traffic();
  readonly #inline: Inline;
  readonly #grant = new InlineGrant();
  readonly #known = new Map<PlacedTask, Known>();
  readonly #budgetUs: number;
  #module: LoadedModule | undefined;
  #frameAsked = false;
  #markUs = 0;
  #markCpuUs: number | undefined;
  /** Time of inline runs within the budget until the machine is no longer suspected of pauses. */
  #suspiciousUs = 0;
  /** Settles when the module is loaded or cannot be loaded. Undefined until a call may run inline. Never rejects. */
  loaded: Promise<void> | undefined;
  readonly #elsewhere: boolean;
  #abandon!: () => void;
  /** Settles when the pool is terminated. */
  readonly #abandoned = new Promise<void>((resolve) => {
    this.#abandon = resolve;
  });

  constructor(owner: PlacerOwner, clock: Clock = threadClock, elsewhere: boolean = parent() !== undefined) {
    this.#owner = owner;
    this.#clock = clock;
    this.#elsewhere = elsewhere;
    this.#budgetUs = owner.settings.inlineBudgetMs * 1000;
    this.#turn = new Turn(this.#budgetUs, clock.onFrame !== undefined);
    this.#inline = new Inline(owner);
  }

  /** Says which tasks would be faster on another thread. Waits for the module at most as long as for a worker's start. */
  async advise(): Promise<Advice> {
    const { startTimeoutMs } = this.#owner.settings;
    if (this.loaded && !this.#module) await within(Promise.race([this.loaded, this.#abandoned]), startTimeoutMs);
    const module = this.#module;
    const why = module ? "why" in module && module.why : this.loaded && "the module has not been loaded yet";
    const notes = why ? [`Nothing runs inline: ${why}.`] : [];
    const known = (task: PlacedTask) => ({ model: this.#known.get(task)?.model, placement: this.wish(task) });
    return advise(this.#owner, this.#clock, this.#budgetUs, known, notes);
  }

  /** Returns the placement of a task's calls. The call's option comes before the pool's, and that before the task's. */
  wish(task: PlacedTask, own?: Placement): Placement {
    if (task.kind !== "function" || task.placement === "worker") return "worker";
    return own ?? this.#owner.settings.placement ?? task.placement ?? "worker";
  }

  /**
   * Runs the call inline and returns its promise. For a call that goes to a worker, returns the function to call with its run time, or
   * undefined if placement does not measure it.
   */
  place(task: PlacedTask, args: unknown[], options: PlacedOptions): Promise<unknown> | Answered | undefined {
    try {
      return this.#place(task, args, options);
    } catch {
      // For example, a getter of an argument threw. It throws again on the way to a worker, where it fails the call and not the caller.
      return undefined;
    }
  }

  #place(task: PlacedTask, args: unknown[], options: PlacedOptions): Promise<unknown> | Answered | undefined {
    const grant = this.#grant;
    if (grant.task === task && grant.options === options && this.#owner.ended === undefined) {
      const kind = argumentClass(args);
      if ((grant.left > 0 && grant.covers(kind)) || this.#extend(kind)) {
        const answer = this.#inline.run(task, grant.definition!, args, options.strict);
        if (answer !== undefined) {
          grant.take();
          return answer;
        }
      }
    }
    const wish = this.wish(task, options.placement);
    if (wish === "worker" || this.#owner.ended !== undefined || !mayRunAnywhere(options)) return undefined;
    const known = this.#know(task);
    if (known?.definition === undefined) return undefined;
    if (wish === "inline") return this.#inline.run(task, known.definition, args, options.strict);
    return this.#decide(task, known, known.definition, args, options);
  }

  #decide(
    task: PlacedTask,
    known: Known,
    definition: TaskDefinition,
    args: unknown[],
    options: PlacedOptions,
  ): Promise<unknown> | Answered | undefined {
    const { nowUs } = this.#clock;
    if (!this.#traffic.inBurst) this.#beginBurst();
    const grant = this.#grant;
    if (grant.used > 0) this.#account();
    const burst = this.#traffic.called();
    const kind = argumentClass(args);
    const profile = known.model.profile(kind);
    if (profile === undefined) {
      grant.end();
      return undefined;
    }
    if (grant.model === known.model && grant.covers(kind)) profile.looked(burst, this.#traffic.burstId);
    const workers = this.#owner.workers.count("ready");
    const fromUs = nowUs();
    this.#traffic.learnSend(fromUs);
    const leftUs = this.#roomUs(fromUs, burst, profile.inlineUs);
    if (this.#turn.watched) this.#mark(fromUs);
    const place = known.model.place(profile, burst, this.#traffic.burstId, workers, leftUs);
    const answer = place === "worker" ? undefined : this.#inline.run(task, definition, args, options.strict);
    if (answer === undefined) {
      grant.end();
      this.#traffic.left(fromUs, nowUs);
      return this.#answered(known, profile);
    }
    const toUs = nowUs();
    const us = toUs - fromUs;
    known.model.ranInline(profile, us, place, this.#pausedUs(fromUs, toUs));
    this.#spent(fromUs, toUs);
    if (place !== "inline" || known.model.backoff.active || grant.surprised) grant.end();
    if (place === "inline" && !known.model.backoff.active) {
      grant.grant(task, definition, options, known.model, kind, profile, burst, us, toUs, leftUs - us);
    }
    return answer;
  }

  // The rest of the turn for inline runs.
  #roomUs(nowUs: number, burst: number, inlineUs: number): number {
    return this.#traffic.roomUs(this.#turn.leftUs(nowUs), this.#budgetUs, burst, inlineUs);
  }

  // Extends the grant to a call that is the first of a burst or of a class, or before which the clock must be read.
  #extend(kind: number): boolean {
    const grant = this.#grant;
    if (grant.resting) {
      this.#beginBurst();
      const nowUs = this.#clock.nowUs();
      if (!grant.resume(nowUs, this.#turn.leftUs(nowUs))) return false;
    } else if (grant.left === 0) {
      if (grant.used === 0) return false;
      const nowUs = this.#account();
      const burst = this.#traffic.expected(0);
      if (!grant.renew(burst, nowUs, this.#roomUs(nowUs, burst, grant.costUs))) return false;
    }
    if (grant.covers(kind)) return true;
    return grant.widen(kind, this.#traffic.expected(grant.used), this.#traffic.burstId);
  }

  // Measures the runs under the grant together. Over the budget, they count as one overrun.
  #account(): number {
    const grant = this.#grant;
    const { fromUs } = grant;
    this.#traffic.add(grant.used);
    const nowUs = this.#clock.nowUs();
    this.#spent(fromUs, nowUs);
    grant.look(nowUs, this.#budgetUs, this.#pausedUs(fromUs, nowUs));
    return nowUs;
  }

  #beginBurst(): void {
    // With a mark of an earlier burst, the thread's sleep since then would count as a pause.
    if (!this.#turn.watched) this.#markCpuUs = undefined;
    if (this.#suspiciousUs > 0) this.#mark(this.#clock.nowUs());
    this.#traffic.begin();
    this.#clock.afterBurst(this.#burstEnded);
  }

  /** The pool is terminated: fails open inline runs. */
  abandon(why: ClearwayError): void {
    this.#abandon();
    this.#inline.abandon(why);
  }

  async #load(): Promise<void> {
    const { source, settings } = this.#owner;
    // In a worker, the task module's `expose()` would answer that worker's own caller.
    this.#module = this.#elsewhere
      ? { why: "the pool was made in a worker, and calls run inline on main threads only" }
      : await loadModule(source, settings.module);
  }

  #know(task: PlacedTask): Known | undefined {
    const known = this.#known.get(task);
    if (known !== undefined) return known;
    // In a turn of its own: the module's loader, which is not ours, may call this pool.
    this.loaded ??= Promise.resolve().then(() => this.#load());
    if (this.#module === undefined) return undefined;
    const definition = "tasks" in this.#module ? this.#module.tasks.get(task.name) : undefined;
    const made: Known = { model: new Model(this.#budgetUs), definition, answered: new Map() };
    this.#known.set(task, made);
    return made;
  }

  #answered(known: Known, profile: CallProfile): Answered {
    let answered = known.answered.get(profile);
    if (answered === undefined) {
      answered = (runUs) => {
        if (runUs < 0) return this.#traffic.lost();
        profile.ran(runUs);
        this.#traffic.answered(profile, runUs, this.#owner.workers.count("ready"), this.#clock.nowUs);
      };
      known.answered.set(profile, answered);
    }
    return answered;
  }

  // Returns how long the machine did not run this thread during a run over the budget. Known only if the CPU time was read before the run:
  // in a watched turn, or after another such run.
  #pausedUs(fromUs: number, toUs: number): number {
    if (toUs - fromUs <= this.#budgetUs) return 0;
    this.#suspiciousUs = suspiciousUs;
    if (this.#markCpuUs === undefined || this.#markUs > fromUs) return 0;
    const cpuUs = this.#clock.cpuUs();
    return cpuUs === undefined ? 0 : Math.max(0, toUs - this.#markUs - (cpuUs - this.#markCpuUs));
  }

  // Not called when the watch of a turn begins: most turns end there, and reading the CPU time takes 1.6 us of a burst's 9.
  #mark(nowUs: number): void {
    if (this.#markCpuUs !== undefined) return;
    this.#markUs = nowUs;
    this.#markCpuUs = this.#clock.cpuUs();
  }

  #spent(fromUs: number, toUs: number): void {
    this.#suspiciousUs -= toUs - fromUs;
    if (this.#turn.spent(fromUs, toUs)) {
      this.#clock.afterTurn(this.#turnEnded);
    }
    if (this.#clock.onFrame === undefined || this.#frameAsked) return;
    this.#frameAsked = true;
    this.#clock.onFrame(this.#frameBegan);
  }

  readonly #burstEnded = (): void => {
    if (this.#grant.used > 0) this.#account();
    this.#grant.rest(this.#traffic.burstEnded());
  };

  readonly #turnEnded = (): void => {
    this.#turn.ended();
    this.#markCpuUs = undefined;
  };

  readonly #frameBegan = (): void => {
    this.#frameAsked = false;
    this.#turn.frame(this.#clock.nowUs());
  };
}

// A call that can be cancelled needs a thread that can be ended. A call with a key waits for other calls with that key. A listener to
// progress must be called before the end of the task.
function mayRunAnywhere({ limited, place, onProgress }: PlacedOptions): boolean {
  return !limited && place < 0 && onProgress === undefined;
}
