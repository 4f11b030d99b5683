// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Records, recordCount } from "./decode.js";
import { kind } from "./record.js";

/** Receives the records that the pump reads, one after the other. */
export interface RecordSink {
  reply(records: Records, record: number): void;
  event(records: Records, record: number): void;
  end(records: Records, record: number): void;
  dropped(stream: number, count: number): void;
  message(records: Records, record: number): void;
  log(records: Records, record: number): void;
  loanReturned(id: number): void;
  closed(): void;
  /**
   * Reports that one of the methods above threw `error` for this record. Examples are a lack of memory, and a method of a lent view that
   * the application has overridden.
   */
  failed(records: Records, record: number, error: unknown): void;
}

// As they were when the library was loaded, so that a test with fake timers does not stop the pump.
const { setImmediate } = globalThis;
const now = performance.now.bind(performance);

// The maximum time for which the pump reads before the event loop continues, in milliseconds. It is an eighth of a frame's time at 60 Hz.
// With a source of a million events per second, timers were at most 2 ms late, and the throughput was within 3 % of a pump without a limit.
const turnMsMax = 2;

/**
 * Reads records from native code. The addon wakes the pump when the first record arrives in an empty queue. The pump then reads until the
 * queue is empty. After `turnMsMax` it pauses, so that the event loop can run other code, and continues in the next turn of the event loop.
 */
export class Pump {
  #scheduled: NodeJS.Immediate | undefined;
  #reading = false;

  constructor(
    readonly records: Records,
    readonly drain: () => number,
    readonly sink: RecordSink,
  ) {}

  /** Reads the waiting records. The addon calls it, and the pump itself calls it after a pause. */
  readonly run = (): void => {
    // During a pause, the next turn will read the new records. If the pump is already reading, the running loop will read them.
    if (this.#scheduled !== undefined || this.#reading) return;
    const deadline = now() + turnMsMax;
    this.#reading = true;
    try {
      for (;;) {
        const count = this.drain();
        if (count === 0) return;
        this.#read(count);
        if (now() >= deadline) {
          this.#scheduled = setImmediate(this.#resume);
          return;
        }
      }
    } finally {
      this.#reading = false;
    }
  };

  readonly #resume = (): void => {
    this.#scheduled = undefined;
    this.run();
  };

  #read(count: number): void {
    const { records, sink } = this;
    for (let at = 0; at < count; at += recordCount(records, at)) {
      // Catches the error of each record separately. The addon writes each record only once, so the other records must still be read.
      try {
        this.#dispatch(at);
      } catch (error) {
        sink.failed(records, at, error);
      }
    }
  }

  #dispatch(at: number): void {
    const { records, sink } = this;
    switch (records.get(at, "kind")) {
      case kind.event:
        return sink.event(records, at);
      case kind.reply:
        return sink.reply(records, at);
      case kind.end:
        return sink.end(records, at);
      case kind.message:
        return sink.message(records, at);
      case kind.dropped:
        return sink.dropped(records.get(at, "id"), records.get(at, "size"));
      case kind.log:
        return sink.log(records, at);
      case kind.loanReturned:
        return sink.loanReturned(records.get(at, "id"));
      case kind.closed:
        return sink.closed();
    }
  }
}
