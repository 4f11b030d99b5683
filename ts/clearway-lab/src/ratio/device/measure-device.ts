// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the pieces of work on one device: warms each up until it is steady, then times it in rounds. Both devices run this file.
import { randomFrom, shuffled } from "../../statistics/random.js";
import { clockStepUs, WarmUpDetector } from "../../statistics/warm-up.js";
import { WORKS, type Work } from "./works.js";

/** How much is measured. Times are in milliseconds. */
export interface Amounts {
  readonly rounds: number;
  /** The minimum length of one timed batch of calls. Coarse clocks get longer batches. */
  readonly batchMs: number;
  /** The time after which a piece that still gets faster is measured nevertheless. */
  readonly warmUpMsMax: number;
}

/** What the measurement needs of its host. */
export interface DeviceHost {
  nowMs(): number;
  /** Lets the host handle events. */
  pause(): Promise<void>;
  /** Settles when the device can be measured: when the page is visible. */
  ready(): Promise<void>;
  /** Returns whether the device was in the background at any time since the last call. */
  wasHidden(): boolean;
}

export interface PieceSamples {
  readonly name: string;
  /** Whether the calls stopped getting faster before the warm-up ended. */
  readonly warm: boolean;
  /** The mean time of a call, one entry for each round. */
  readonly callMs: readonly number[];
}

export interface DeviceSamples {
  readonly worksVersion: number;
  /** The smallest step of the device's clock. */
  readonly clockStepMs: number;
  /** Number of rounds that were measured again, because the page was in the background. */
  readonly repeated: number;
  readonly pieces: readonly PieceSamples[];
}

/** `done` of `planned` parts. `waiting` is true while a page in the background keeps the measurement from going on. */
export interface Progress {
  readonly phase: "warm-up" | "rounds";
  readonly done: number;
  readonly planned: number;
  readonly repeated: number;
}

/** A batch lasts this many steps of the clock, so that the step is 2 % of it. */
const STEPS_PER_BATCH = 50;
/** A coarser clock would need batches of a second and more. Some browsers round their clock to 16.7 or 100 ms against fingerprinting. */
const CLOCK_STEP_MS_MAX = 5;
/** Readings of the clock's step, of which the smallest counts. A browser's clock may vary its steps. */
const CLOCK_READINGS = 5;

/** The device cannot be measured. The message says why, and what to do. */
export class DeviceError extends Error {}

/** Measures all pieces. Rejects with a DeviceError if the clock is too coarse, or a piece returns a wrong result. */
export async function measureDevice(
  { rounds, batchMs, warmUpMsMax }: Amounts,
  host: DeviceHost,
  worksVersion: number,
  onProgress: (progress: Progress) => void = () => {},
  works: readonly Work[] = WORKS,
): Promise<DeviceSamples> {
  await host.ready();
  const clockStepMs = clockStepUs(() => host.nowMs(), CLOCK_READINGS) / 1000;
  if (clockStepMs > CLOCK_STEP_MS_MAX)
    throw new DeviceError(
      `the clock of this browser moves in steps of ${clockStepMs} ms, and at most ${CLOCK_STEP_MS_MAX} ms can be used: switch off its protection against fingerprinting for this page, or use another browser`,
    );
  const lengthMs = Math.max(batchMs, STEPS_PER_BATCH * clockStepMs);
  let repeated = 0;
  const report = (phase: Progress["phase"], done: number, planned: number) =>
    onProgress({ phase, done, planned, repeated });

  const pieces: { work: Work; calls: number; warm: boolean; callMs: number[] }[] = [];
  for (const work of works) {
    report("warm-up", pieces.length, works.length);
    const { warm, callMs } = await warmUp(work, host, lengthMs, warmUpMsMax);
    pieces.push({ work, calls: Math.max(1, Math.ceil(lengthMs / callMs)), warm, callMs: [] });
  }

  // The order differs in each round, and is the same on both devices.
  const random = randomFrom(1);
  // Forgets what happened during the warm-up.
  host.wasHidden();
  let settling = false;
  for (let round = 0; round < rounds; ) {
    report("rounds", round, rounds);
    const times = new Map<Work, number>();
    let hidden = false;
    for (const { work, calls } of shuffled(pieces, random)) {
      times.set(work, timeOf(work, calls, host));
      await host.pause();
      hidden = host.wasHidden();
      if (hidden) break;
    }
    if (hidden) {
      repeated++;
      report("rounds", round, rounds);
      await host.ready();
      host.wasHidden();
      // A processor needs some time to get back to its full speed.
      settling = true;
    } else if (settling) settling = false;
    else {
      for (const piece of pieces) piece.callMs.push(times.get(piece.work)! / piece.calls);
      round++;
    }
  }
  report("rounds", rounds, rounds);
  return {
    worksVersion,
    clockStepMs,
    repeated,
    pieces: pieces.map(({ work, warm, callMs }) => ({ name: work.name, warm, callMs })),
  };
}

/** Runs a piece in windows until it stops getting faster, or for `msMax`. Windows in the background do not count. */
async function warmUp(
  work: Work,
  host: DeviceHost,
  windowMs: number,
  msMax: number,
): Promise<{ warm: boolean; callMs: number }> {
  const detector = new WarmUpDetector();
  let spentMs = 0;
  for (;;) {
    const beginMs = host.nowMs();
    let calls = 0;
    let tookMs = 0;
    do {
      callOnce(work);
      calls++;
      tookMs = host.nowMs() - beginMs;
    } while (tookMs < windowMs);
    await host.pause();
    if (host.wasHidden()) {
      await host.ready();
      continue;
    }
    spentMs += tookMs;
    const warm = detector.isWarmAfter(tookMs / calls);
    if (warm || spentMs >= msMax) return { warm, callMs: detector.best };
  }
}

function timeOf(work: Work, calls: number, host: DeviceHost): number {
  const beginMs = host.nowMs();
  for (let call = 0; call < calls; call++) callOnce(work);
  return host.nowMs() - beginMs;
}

function callOnce({ name, run, result }: Work): void {
  const returned = run();
  if (returned !== result)
    throw new DeviceError(`the piece ${name} returned ${returned} instead of ${result}: this engine computes wrongly`);
}

// What the page sends to the lab, and the answer.

export interface PageResult {
  /** The number that the page was given. The lab takes one result for each. */
  readonly nonce: string;
  readonly agent: string;
  readonly cores: number;
  readonly samples: DeviceSamples;
}

export interface PageAnswer {
  /** How many times as long the page's device takes as the lab's. */
  readonly ratio: number;
  readonly ratioMin: number;
  readonly ratioMax: number;
  /** The lab's device, as text. */
  readonly here: string;
}
