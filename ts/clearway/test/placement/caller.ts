// SPDX-License-Identifier: MIT OR Apache-2.0

import type { PlacerOwner } from "../../src/placement/owner.js";
import { Placer } from "../../src/placement/placer.js";
import type { Clock } from "../../src/placement/turn.js";
import { TaskRecord, TaskRecords } from "../../src/pool/schedule/task-stats.js";
import { emptySide } from "../../src/transfer/ledger.js";

const settings = {
  signal: undefined,
  timeoutMs: undefined,
  deadlineMs: undefined,
  onProgress: undefined,
  key: undefined,
  workerIndex: -1,
  placement: "auto" as const,
  priority: 0,
  strict: false,
  window: { items: 1, bytes: 1 },
  retries: 0,
  limited: false,
};

const workers = 2;

/** The result of one turn of the simulated caller. */
export interface Turned {
  inline: number;
  worker: number;
  /** Time for which inline runs blocked the thread. */
  heldUs: number;
  clockReadings: number;
}

/**
 * A simulated caller's thread around the real placer: a task whose runs advance the clock by `costUs`, and two workers that take as
 * long, behind a hop. No threads, no pool, and only simulated time.
 */
export class PaperCaller {
  nowUs = 1000;
  hopUs = 10;
  costUs: (value: number) => number = () => 1;
  /** Length of a pause of the machine during an inline run. */
  pauseUs: () => number = () => 0;
  /** Whether the processor time is known. */
  tellsCpu = false;
  readonly placer: Placer;
  readonly #task = new TaskRecord("work");
  #clockReadings = 0;
  #heldUs = 0;
  #pausedUs = 0;
  #afterBurst: (() => void)[] = [];
  #afterTurn: (() => void)[] = [];

  constructor(inlineBudgetMs = 1, module?: () => Promise<unknown>) {
    this.#task.kind = "function";
    this.#task.index = 0;
    const work = (value: number): number => {
      const us = this.costUs(value);
      const pauseUs = this.pauseUs();
      this.nowUs += us + pauseUs;
      this.#heldUs += us + pauseUs;
      this.#pausedUs += pauseUs;
      return value;
    };
    const clock: Clock = {
      nowUs: () => {
        this.#clockReadings++;
        return this.nowUs;
      },
      afterBurst: (next) => void this.#afterBurst.push(next),
      afterTurn: (next) => void this.#afterTurn.push(next),
      cpuUs: () => (this.tellsCpu ? this.nowUs - this.#pausedUs : undefined),
      onFrame: undefined,
    };
    const owner: PlacerOwner = {
      source: "",
      settings: {
        placement: undefined,
        inlineBudgetMs,
        startTimeoutMs: 30_000,
        module: module ?? (async () => ({ default: { work } })),
      },
      ended: undefined,
      toWorkers: emptySide(),
      fromWorkers: emptySide(),
      tracker: { openCount: 0, shut: () => {} },
      records: new TaskRecords(),
      workers: { count: () => workers },
      ping: async () => {},
    };
    this.placer = new Placer(owner, clock, false);
  }

  /** Waits until the placer has loaded the module. */
  async loaded(): Promise<this> {
    this.placer.place(this.#task, [0], settings);
    await this.placer.loaded;
    return this;
  }

  /** Plays one turn of the event loop: calls the task with these values in one burst, and then lets the workers answer. */
  turn(values: readonly number[]): Turned {
    this.#heldUs = this.#clockReadings = 0;
    const sent: [us: number, answered: (runUs: number) => void][] = [];
    for (const value of values) {
      const placed = this.placer.place(this.#task, [value], settings);
      if (typeof placed === "function") sent.push([this.costUs(value), placed]);
    }
    for (const next of this.#afterBurst.splice(0)) next();
    const turned = {
      inline: values.length - sent.length,
      worker: sent.length,
      heldUs: this.#heldUs,
      clockReadings: this.#clockReadings,
    };
    for (const next of this.#afterTurn.splice(0)) next();
    for (const [us, answered] of sent) {
      this.nowUs += us / workers + this.hopUs;
      answered(Math.round(us));
    }
    return turned;
  }

  /** Plays `count` equal turns, and returns the last. */
  turns(count: number, values: readonly number[]): Turned {
    for (let at = 1; at < count; at++) this.turn(values);
    return this.turn(values);
  }
}
