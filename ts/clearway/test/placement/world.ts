// SPDX-License-Identifier: MIT OR Apache-2.0

import type { CallProfile, Place } from "../../src/placement/call-profile.js";
import { Model } from "../../src/placement/model.js";
import { Traffic } from "../../src/placement/traffic.js";
import { Turn } from "../../src/placement/turn.js";

/** The cost of a call on this machine, in microseconds. */
export interface Call {
  /** Duration in a worker. On the caller's thread it is multiplied by `World.inlineFactor`. */
  us: number;
  /** The class of its arguments. */
  kind?: number;
}

/** The result of one batch, which is one turn of the event loop. */
export interface Played {
  totalUs: number;
  /** Time for which inline runs blocked the thread, in one turn. */
  heldUs: number;
  /** Time for which the whole tick blocked the thread, with sending. */
  stallUs: number;
  longestUs: number;
  inline: number;
  worker: number;
}

/**
 * A simulated machine for the pure model: a caller's thread, some workers, and a hop. The hop blocks the caller for `handleUs` per call,
 * and the first answer arrives after `latencyUs`. No threads and no clocks.
 *
 *   caller  |h|h|h|---- latency ----|answers
 *   workers       |run|run|run|
 */
export class World {
  readonly model: Model;
  readonly #traffic = new Traffic();
  readonly #turn: Turn;
  nowUs = 1000;
  latencyUs = 40;
  handleUs = 1.5;
  workers = 2;
  inlineFactor = 1;
  /** Cost of the copy and the call, per inline run. */
  inlineExtraUs = 0.3;
  /** Additional cost of each of the first `coldRuns` inline runs. */
  coldUs = 0;
  coldRuns = 0;

  constructor(readonly budgetUs = 1000) {
    this.model = new Model(budgetUs);
    this.#turn = new Turn(budgetUs, false);
  }

  /** Makes the calls in one tick, and waits for all. `force` bypasses the model, to measure either place. */
  batch(calls: readonly Call[], force?: "inline" | "worker"): Played {
    const beganUs = this.nowUs;
    const played: Played = { totalUs: 0, heldUs: 0, stallUs: 0, longestUs: 0, inline: 0, worker: 0 };
    const sent: Call[] = [];
    for (const call of calls) {
      const burst = this.#traffic.called();
      const profile = this.model.profile(call.kind ?? 0);
      const place = force ?? this.#place(profile, burst);
      if (place === "worker") {
        played.worker++;
        if (force === undefined) this.#traffic.sent(this.nowUs, () => this.nowUs);
        this.nowUs += this.handleUs;
        sent.push(call);
        continue;
      }
      const fromUs = this.nowUs;
      this.nowUs += call.us * this.inlineFactor + this.inlineExtraUs + (this.coldRuns-- > 0 ? this.coldUs : 0);
      const us = this.nowUs - fromUs;
      played.inline++;
      played.heldUs += us;
      played.longestUs = Math.max(played.longestUs, us);
      if (place === "inline" && force !== undefined) continue;
      this.#turn.spent(fromUs, this.nowUs);
      if (profile) this.model.ranInline(profile, us, place);
    }
    played.stallUs = this.nowUs - beganUs;
    this.#traffic.burstEnded();
    this.#turn.ended();
    this.#answer(sent, force === undefined);
    played.totalUs = this.nowUs - beganUs;
    return played;
  }

  #place(profile: CallProfile | undefined, burst: number): Place {
    this.#traffic.learnSend(this.nowUs);
    const leftUs = this.#turn.leftUs(this.nowUs);
    const roomUs = this.#traffic.roomUs(leftUs, this.budgetUs, burst, profile?.inlineUs ?? 0);
    return this.model.place(profile, burst, this.#traffic.burstId, this.workers, roomUs);
  }

  #answer(sent: readonly Call[], told: boolean): void {
    if (sent.length === 0) return;
    const freeUs = new Array<number>(Math.min(this.workers, sent.length)).fill(this.nowUs);
    const done = sent.map((call) => {
      const at = freeUs.indexOf(Math.min(...freeUs));
      freeUs[at]! += call.us;
      return { call, us: freeUs[at]! + this.latencyUs };
    });
    for (const { call, us } of done) {
      this.nowUs = Math.max(this.nowUs, us);
      if (!told) continue;
      const profile = this.model.profile(call.kind ?? 0);
      // The worker's clock has whole microseconds.
      profile?.ran(Math.round(call.us));
      if (profile) this.#traffic.answered(profile, Math.round(call.us), this.workers, () => this.nowUs);
    }
  }
}

/** Returns a repeatable source of numbers from 0 to 1 (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Returns `count` calls of this cost. */
export function times(count: number, us: number | (() => number), kind = 0): Call[] {
  return Array.from({ length: count }, () => ({ us: typeof us === "number" ? us : us(), kind }));
}
