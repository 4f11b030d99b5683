// SPDX-License-Identifier: MIT OR Apache-2.0

import { parent } from "#host";
import type { ClearwayError } from "../error/clearway-error.js";
import { messageOf } from "../error/message-of.js";
import { definitionOfTask, type TaskDefinition } from "../task/task.js";
import { type Advice, advise } from "./advice.js";
import type { CallProfile } from "./call-profile.js";
import { Inline } from "./inline.js";
import { InlineGrant } from "./inline-grant.js";
import { argumentClass, Model } from "./model.js";
import type { PlacedOptions, PlacedTask, Placement, PlacerOwner } from "./owner.js";
import { Traffic } from "./traffic.js";
import { type Clock, Turn, threadClock } from "./turn.js";

// After a run over the budget that nobody can explain the processor's time is read at the beginning of each burst, until so
// much has run inline within it: four times what lies between two pauses of a busy machine (25 ms). It costs 0.6 to 1.6 us a
// burst, so it is not read before there is a reason.
const suspiciousUs = 100_000;

/** The task module on the caller's side, or why it is not there. */
export type LoadedModule = { tasks: ReadonlyMap<string, TaskDefinition> } | { why: string };

/**
 * Imports the task module into the caller's thread. Never rejects: without it every call goes to a worker, and the
 * advisor tells why.
 */
export async function loadModule(
  source: PlacerOwner["source"],
  load: (() => Promise<unknown>) | undefined,
): Promise<LoadedModule> {
  try {
    if (load === undefined && typeof source === "function") {
      return { why: 'the pool was made with a factory; give it `module: () => import("./x.tasks.js")` as well' };
    }
    // The bundler must leave it alone: it is the same URL that the workers load.
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

// A worker's URL counts from the page, or from the working directory; an import's would count from this file.
function urlOf(source: URL | string): string {
  if (typeof source !== "string" || /^[a-z]+:/.test(source)) return String(source);
  const { document, location, process } = globalThis as {
    document?: { baseURI: string };
    location?: { href: string };
    process?: { cwd(): string };
  };
  return new URL(source, document?.baseURI ?? location?.href ?? `file://${process?.cwd()}/`).href;
}

/** Told when a call that went to a worker is over: what it ran, in microseconds; -1 when it was not answered. */
export type Answered = (runUs: number) => void;

/** A task as placement sees it. */
interface Known {
  readonly model: Model;
  readonly definition: TaskDefinition | undefined;
  readonly answered: Map<CallProfile, Answered>;
}

/** Decides for each call whether it runs here or in a worker, and runs those that run here. */
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
  /** How long has to run inline within the budget until the machine is not suspected of pauses any more. */
  #suspiciousUs = 0;
  /** Settles when the module is here, or it is known why not; undefined while nobody asked for it. Never rejects. */
  loaded: Promise<void> | undefined;
  readonly #elsewhere: boolean;

  constructor(owner: PlacerOwner, clock: Clock = threadClock, elsewhere: boolean = parent() !== undefined) {
    this.#owner = owner;
    this.#clock = clock;
    this.#elsewhere = elsewhere;
    this.#budgetUs = owner.settings.inlineBudgetMs * 1000;
    this.#turn = new Turn(this.#budgetUs, clock.onFrame !== undefined);
    this.#inline = new Inline(owner);
  }

  /** Which tasks would be better placed elsewhere. */
  async advise(): Promise<Advice> {
    await this.loaded;
    const module = this.#module;
    const notes = module && "why" in module ? [`Nothing runs inline: ${module.why}.`] : [];
    const known = (task: PlacedTask) => ({ model: this.#known.get(task)?.model, placement: this.wish(task) });
    return advise(this.#owner, this.#clock, this.#budgetUs, known, notes);
  }

  /** How a task's calls are placed. The call's own wish goes before the pool's, that before the task's. */
  wish(task: PlacedTask, own?: Placement): Placement {
    if (task.kind !== "function" || task.placement === "worker") return "worker";
    return own ?? this.#owner.settings.placement ?? task.placement ?? "worker";
  }

  /**
   * Runs the call here and returns its promise; or returns what is to be told when a worker has answered it; or neither,
   * for a call that is none of placement's business.
   */
  place(task: PlacedTask, args: unknown[], options: PlacedOptions): Promise<unknown> | Answered | undefined {
    try {
      return this.#place(task, args, options);
    } catch {
      // A getter of an argument threw, say. It throws again on the way to a worker, and fails the call, not the caller.
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

  // What is left of the turn for running here.
  #roomUs(nowUs: number, burst: number, inlineUs: number): number {
    return this.#traffic.roomUs(this.#turn.leftUs(nowUs), this.#budgetUs, burst, inlineUs);
  }

  // Lets a call run under the grant that is the first of a burst or of a kind, or for which the clock has to be looked at.
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

  // What ran under the grant is measured as one: over the budget it banishes as one run would.
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
    // A mark of an earlier burst would count what the thread has slept since as a pause.
    if (!this.#turn.watched) this.#markCpuUs = undefined;
    if (this.#suspiciousUs > 0) this.#mark(this.#clock.nowUs());
    this.#traffic.begin();
    this.#clock.afterBurst(this.#burstEnded);
  }

  /** The pool is terminated: what runs here and waits is told so. */
  abandon(why: ClearwayError): void {
    this.#inline.abandon(why);
  }

  async #load(): Promise<void> {
    const { source, settings } = this.#owner;
    // Imported in a worker, a task module would take that worker's caller for its own.
    this.#module = this.#elsewhere
      ? { why: "the pool was made in a worker, and calls run inline on main threads only" }
      : await loadModule(source, settings.module);
  }

  #know(task: PlacedTask): Known | undefined {
    const known = this.#known.get(task);
    if (known !== undefined) return known;
    this.loaded ??= this.#load();
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

  // Of a run that was over the budget: how long the machine was elsewhere. Known only in a turn that is watched, or after
  // another such run, since what a processor did is read at the beginning of either.
  #pausedUs(fromUs: number, toUs: number): number {
    if (toUs - fromUs <= this.#budgetUs) return 0;
    this.#suspiciousUs = suspiciousUs;
    if (this.#markCpuUs === undefined || this.#markUs > fromUs) return 0;
    const cpuUs = this.#clock.cpuUs();
    return cpuUs === undefined ? 0 : Math.max(0, toUs - this.#markUs - (cpuUs - this.#markCpuUs));
  }

  // Not when the watch begins: most turns end there, and asking costs 1.6 us of a burst of 9.
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

/**
 * A call that may have to be stopped needs a thread that can be ended; one with a key has its turn behind others with
 * that key; and who listens to progress wants to hear of it before the end.
 */
function mayRunAnywhere({ limited, place, onProgress }: PlacedOptions): boolean {
  return !limited && place < 0 && onProgress === undefined;
}
