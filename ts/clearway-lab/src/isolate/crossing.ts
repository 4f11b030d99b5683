// SPDX-License-Identifier: MIT OR Apache-2.0
// One crossing between the main thread and a worker, by size: the folk rule says that 1 MB costs a frame. Measures how long the main thread
// is blocked by a crossing to the worker, or from it.
import { nowMs, openWorker, turn } from "#lab-host";
import { type Measured, type Mechanism, numberParam, textParam } from "../protocol/measured.js";
import { makeStudents } from "./student.js";

export type CrossingContent = "bytes" | "objects";

/** What crosses: bytes, or a list of students with about as many bytes of JSON. */
export type Content = Uint8Array | ReturnType<typeof makeStudents>;

/** Average length of a student in JSON: 35 bytes of a hundred students, 45 of two million. */
const STUDENT_JSON_BYTES = 40;

const studentsFor = (bytes: number): number => Math.max(1, Math.round(bytes / STUDENT_JSON_BYTES));

/** Makes new content. Its memory is touched, so that a crossing does not pay for the page faults of the sender. */
export function makeContent(kind: CrossingContent, bytes: number): Content {
  return kind === "bytes" ? new Uint8Array(bytes).fill(7) : makeStudents(studentsFor(bytes));
}

/** Returns what both ends compare: the length, and what the last element says. */
export function summaryOf(content: Content): { length: number; last: number } {
  const last = content.at(-1);
  return { length: content.length, last: typeof last === "number" ? last : (last?.rollNum ?? 0) };
}

export interface Crossing {
  /** Sends content to the worker. Resolves to the worker's summary of it. */
  take?(content: Content): Promise<{ length: number; last: number }>;
  /** Receives content that the worker makes. */
  give?(): Promise<Content>;
  close(): Promise<void>;
}

/** Crossings before the measured ones. They start the worker and compile the code. */
const WARM_UP = 3;

export function crossingMechanism(kind: CrossingContent, open: (bytes: number) => Promise<Crossing>): Mechanism {
  return async ({ params }): Promise<Measured> => {
    const bytes = numberParam(params, "bytes");
    const direction = textParam(params, "direction");
    if (direction !== "to the worker" && direction !== "from the worker")
      throw new RangeError(`direction must be "to the worker" or "from the worker": direction=${direction}`);
    const crossings = numberParam(params, "crossings");
    const expected = summaryOf(makeContent(kind, bytes));
    const crossing = await open(bytes);
    const stalls: number[] = [];
    const totals: number[] = [];
    let right = 0;
    try {
      for (let i = -WARM_UP; i < crossings; i++) {
        // A moved buffer is gone afterwards, so each crossing has new content. Making it is not measured.
        const content = direction === "to the worker" ? makeContent(kind, bytes) : undefined;
        let summary: { length: number; last: number } | undefined;
        const begin = nowMs();
        const stallMs = await longestTurnMs(async () => {
          summary = await (content === undefined ? crossing.give!().then(summaryOf) : crossing.take!(content));
        });
        if (i < 0) continue;
        totals.push((nowMs() - begin) * 1e6);
        stalls.push(stallMs * 1e6);
        if (summary?.length === expected.length && summary.last === expected.last) right++;
      }
    } finally {
      await crossing.close();
    }
    return {
      samples: { stall: { unit: "us", ns: stalls }, crossing: { unit: "us", ns: totals } },
      values: {},
      result: { right },
    };
  };
}

/** A request to the bare worker: to answer with a summary of the content, or to make content and post it. */
export type CrossingRequest =
  | { op: "take"; content: Content }
  | { op: "give"; kind: CrossingContent; bytes: number; moves: boolean };

function bare(kind: CrossingContent, moves: boolean): Mechanism {
  return crossingMechanism(kind, async (bytes) => {
    const worker = openWorker("isolate-bare");
    let answered: (message: unknown) => void = () => {};
    worker.listen((message) => answered(message));
    const ask = <T>(request: CrossingRequest, transfer: Transferable[] = []) =>
      new Promise<T>((resolve) => {
        answered = (message) => resolve(message as T);
        worker.post(request, transfer);
      });
    return {
      take: (content) => ask({ op: "take", content }, moves ? [(content as Uint8Array).buffer as ArrayBuffer] : []),
      give: () => ask<Content>({ op: "give", kind, bytes, moves }),
      close: () => worker.end(),
    };
  });
}

export const crossings: Record<string, Mechanism> = {
  "bytes-copied": bare("bytes", false),
  "bytes-moved": bare("bytes", true),
  "objects-cloned": bare("objects", false),
};

// The longest time for which the calling thread did not turn its event loop, without the millisecond of a timer.

/** What the measurement uses of its host. Tests replace it. */
export interface TurnClock {
  nowMs(): number;
  /** Resolves in the next turn of the event loop. */
  turn(): Promise<void>;
}

/**
 * Runs `work` and turns the event loop until it settles. Returns the longest time between two turns, in milliseconds: while the loop does
 * not turn, the thread draws nothing. The synchronous part of `work` counts. Keeps the thread busy. Rejects with the error of `work`.
 */
export async function longestTurnMs(work: () => Promise<unknown>, clock: TurnClock = { nowMs, turn }): Promise<number> {
  let settled = false;
  let longestMs = 0;
  let turnedMs = clock.nowMs();
  const note = () => {
    const now = clock.nowMs();
    longestMs = Math.max(longestMs, now - turnedMs);
    turnedMs = now;
  };
  const done = work().finally(() => {
    settled = true;
  });
  // The loop below may still turn when `done` rejects. The rejection is reported by the await at the end.
  done.catch(() => {});
  while (!settled) {
    note();
    await clock.turn();
  }
  note();
  await done;
  return longestMs;
}
