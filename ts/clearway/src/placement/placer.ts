// SPDX-License-Identifier: MIT OR Apache-2.0

import { parent } from "#host";
import type { ClearwayError } from "../error/clearway-error.js";
import { messageOf } from "../error/message-of.js";
import { OwnPromise } from "../globals.js";
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

// Time in microseconds for which the placer watches for pauses of the machine after a run over the budget. The placer reads the CPU time at
// the beginning of each burst, until inline runs within the budget have taken this time in total. The time is four times the interval
// between two pauses of a busy machine (25 ms). A reading costs 0.6 to 1.6 us per burst, so the placer does not read the CPU time without a
// reason.
const pauseWatchUs = 100_000;

/** The tasks of the module that was loaded on the caller's thread, or the reason why it was not loaded. */
export type LoadedModule = { tasks: ReadonlyMap<string, TaskDefinition> } | { why: string };

/**
 * Imports the task module into the caller's thread. Never rejects. If the import fails, every call goes to a worker, and the advice
 * contains the reason.
 */
export async function loadModule(
  source: PlacerOwner["source"],
  load: (() => Promise<unknown>) | undefined,
): Promise<LoadedModule> {
  try {
    if (load === undefined && typeof source === "function") {
      return { why: 'the pool was made with a factory; give it `module: () => import("./x.tasks.js")` as well' };
    }
    // Bundlers must not change this import, because it must load the same URL as the workers.
    const module = await (load
      ? load()
      : import(/* @vite-ignore */ /* webpackIgnore: true */ moduleUrl(source as string)));
    const tasks = (module as { default?: unknown } | null)?.default;
    if (tasks === null || typeof tasks !== "object") return { why: "the module exports no tasks by default" };
    return { tasks: new Map(Object.entries(tasks).map(([name, fn]) => [name, definitionOfTask(name, fn)])) };
  } catch (reason) {
    return {
      why: `the module cannot be loaded on this thread: ${messageOf(reason)}`,
    };
  }
}

/**
 * Returns the URL of a worker's module for `import()`. Resolves it in the same way as the host: relative to the page or to the working
 * directory. `import()` would resolve it relative to this file.
 */
export function moduleUrl(source: URL | string): string {
  // A single letter is a Windows drive, not a URL scheme.
  if (typeof source !== "string" || /^[a-z][a-z0-9+.-]+:/i.test(source)) return String(source);
  const { document, location, process } = globalThis as {
    document?: { baseURI: string };
    location?: { href: string };
    process?: { cwd(): string; platform: string };
  };
  const page = document?.baseURI ?? location?.href;
  if (page !== undefined || process === undefined) return new URL(source, page).href;
  // Node reads the text as a path. The characters `%`, `#` and `?` have no special meaning in a path, and Windows also separates by `\`.
  const inUrl = (path: string): string =>
    encodeURI(process.platform === "win32" ? path.replaceAll("\\", "/") : path).replace(/[#?]/g, encodeURIComponent);
  const folder = inUrl(process.cwd());
  const path = inUrl(source);
  if (/^[a-z]:/i.test(path)) return new URL(`file:///${path}`).href;
  return new URL(path, `file://${folder.startsWith("/") ? "" : "/"}${folder}/`).href;
}

/** Called when a call that went to a worker is over. `runUs` is its run time in microseconds, or -1 if there was no answer. */
export type Answered = (runUs: number) => void;

/** The state that placement keeps for a task. */
interface Known {
  readonly model: Model;
  readonly definition: TaskDefinition | undefined;
  readonly answered: Map<CallProfile, Answered>;
}

/** Decides for each call whether it runs inline or in a worker. Runs the inline calls. */
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
  #cpuReadAtUs = 0;
  #cpuTimeUs: number | undefined;
  /** Inline run time in microseconds for which the placer continues to watch for pauses of the machine. At most 0 if it does not watch. */
  #pauseWatchLeftUs = 0;
  /** Settles when the module was loaded or its import failed. Undefined until the first call that may run inline. Never rejects. */
  loaded: Promise<void> | undefined;
  readonly #elsewhere: boolean;
  #abandon!: () => void;
  /** Settles when the pool is terminated. */
  readonly #abandoned = new OwnPromise<void>((resolve) => {
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

  /**
   * Returns the advice: which tasks would be faster on another thread. If the module is still loading, waits for it, at most as long as for
   * the start of a worker.
   */
  async advise(): Promise<Advice> {
    const { startTimeoutMs } = this.#owner.settings;
    if (this.loaded && !this.#module) await within(OwnPromise.race([this.loaded, this.#abandoned]), startTimeoutMs);
    const module = this.#module;
    const why = module ? "why" in module && module.why : this.loaded && "the module has not been loaded yet";
    const notes = why ? [`Nothing runs inline: ${why}.`] : [];
    const known = (task: PlacedTask) => ({ model: this.#known.get(task)?.model, placement: this.#placementOf(task) });
    return advise(this.#owner, this.#clock, this.#budgetUs, known, notes);
  }

  /**
   * Returns the placement of a task's calls. The call's option takes precedence over the pool's option, and the pool's option over the
   * task's own.
   */
  #placementOf(task: PlacedTask, own?: Placement): Placement {
    if (task.kind !== "function" || task.placement === "worker") return "worker";
    return own ?? this.#owner.settings.placement ?? task.placement ?? "worker";
  }

  /**
   * Runs the call inline and returns its promise. If the call must go to a worker, returns a function, which the pool calls with the run
   * time. Returns undefined if the call must go to a worker and placement does not measure it.
   */
  place(task: PlacedTask, args: unknown[], options: PlacedOptions): Promise<unknown> | Answered | undefined {
    try {
      return this.#place(task, args, options);
    } catch {
      // For example, a getter of an argument threw. The getter throws again on the way to a worker. The error then fails the call instead
      // of reaching the caller synchronously.
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
    const placement = this.#placementOf(task, options.placement);
    if (placement === "worker" || this.#owner.ended !== undefined || !mayRunAnywhere(options)) return undefined;
    const known = this.#know(task);
    if (known?.definition === undefined) return undefined;
    if (placement === "inline") return this.#inline.run(task, known.definition, args, options.strict);
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
    if (grant.model === known.model && grant.covers(kind)) profile.ranUnderGrant(burst, this.#traffic.burstId);
    const workers = this.#owner.workers.count("ready");
    const fromUs = nowUs();
    this.#traffic.learnSend(fromUs);
    const leftUs = this.#roomUs(fromUs, burst, profile.inlineUs);
    if (this.#turn.watched) this.#readCpuTime(fromUs);
    const place = known.model.place(profile, burst, this.#traffic.burstId, workers, leftUs);
    const answer = place === "worker" ? undefined : this.#inline.run(task, definition, args, options.strict);
    if (answer === undefined) {
      grant.end();
      this.#traffic.sent(fromUs, nowUs);
      return this.#answered(known, profile);
    }
    const toUs = nowUs();
    const us = toUs - fromUs;
    known.model.ranInline(profile, us, place, this.#pausedUs(fromUs, toUs));
    this.#spent(fromUs, toUs);
    if (place !== "inline" || known.model.backoff.active || grant.tooSlow) grant.end();
    if (place === "inline" && !known.model.backoff.active) {
      grant.grant(task, definition, options, known.model, kind, profile, burst, us, toUs, leftUs - us);
    }
    return answer;
  }

  // Returns the time that is left of the turn for inline runs, in microseconds.
  #roomUs(nowUs: number, burst: number, inlineUs: number): number {
    return this.#traffic.roomUs(this.#turn.leftUs(nowUs), this.#budgetUs, burst, inlineUs);
  }

  // Returns whether the call may run under the grant, although the grant does not allow it yet. Such a call is the first of a burst, the
  // first of a class, or a call before which the clock must be read.
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

  // Reads the clock and adds the time of the runs under the grant, measured together. If they exceeded the budget, they count as one
  // overrun.
  #account(): number {
    const grant = this.#grant;
    const { fromUs } = grant;
    this.#traffic.add(grant.used);
    const nowUs = this.#clock.nowUs();
    this.#spent(fromUs, nowUs);
    grant.addTime(nowUs, this.#budgetUs, this.#pausedUs(fromUs, nowUs));
    return nowUs;
  }

  #beginBurst(): void {
    // Discards a reading of the CPU time from an earlier burst. With it, the thread's sleep since then would count as a pause.
    if (!this.#turn.watched) this.#cpuTimeUs = undefined;
    if (this.#pauseWatchLeftUs > 0) this.#readCpuTime(this.#clock.nowUs());
    this.#traffic.begin();
    this.#clock.afterBurst(this.#burstEnded);
  }

  /** Fails open inline runs, because the pool is terminated. */
  abandon(why: ClearwayError): void {
    this.#abandon();
    this.#inline.abandon(why);
  }

  async #load(): Promise<void> {
    const { source, settings } = this.#owner;
    // Does not load the module in a worker. The module's `expose()` would answer the caller of that worker.
    this.#module = this.#elsewhere
      ? { why: "the pool was made in a worker, and calls run inline on main threads only" }
      : await loadModule(source, settings.module);
  }

  #know(task: PlacedTask): Known | undefined {
    const known = this.#known.get(task);
    if (known !== undefined) return known;
    // Loads in a separate microtask, because the app's function that loads the module may call this pool.
    this.loaded ??= OwnPromise.resolve().then(() => this.#load());
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

  // Returns for how many microseconds the machine did not run this thread during a run over the budget. The result is 0 unless the CPU time
  // was read before the run. The placer reads it in a watched turn, and after another run over the budget.
  #pausedUs(fromUs: number, toUs: number): number {
    if (toUs - fromUs <= this.#budgetUs) return 0;
    this.#pauseWatchLeftUs = pauseWatchUs;
    if (this.#cpuTimeUs === undefined || this.#cpuReadAtUs > fromUs) return 0;
    const cpuUs = this.#clock.cpuUs();
    return cpuUs === undefined ? 0 : Math.max(0, toUs - this.#cpuReadAtUs - (cpuUs - this.#cpuTimeUs));
  }

  // Reads the CPU time, unless it was read already. Not called when the watch of a turn begins. Most turns end soon after that, and a
  // reading takes 1.6 us, compared with 9 us for a burst.
  #readCpuTime(nowUs: number): void {
    if (this.#cpuTimeUs !== undefined) return;
    this.#cpuReadAtUs = nowUs;
    this.#cpuTimeUs = this.#clock.cpuUs();
  }

  #spent(fromUs: number, toUs: number): void {
    this.#pauseWatchLeftUs -= toUs - fromUs;
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
    this.#cpuTimeUs = undefined;
  };

  readonly #frameBegan = (): void => {
    this.#frameAsked = false;
    this.#turn.frame(this.#clock.nowUs());
  };
}

// Returns whether a call may run on the caller's thread. A call that can be cancelled needs a thread that can be ended. A call with a key
// waits for other calls with that key. A progress listener must be called before the task ends.
function mayRunAnywhere({ limited, workerIndex, onProgress }: PlacedOptions): boolean {
  return !limited && workerIndex < 0 && onProgress === undefined;
}
