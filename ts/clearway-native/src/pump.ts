// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Records, recordsOf } from "./decode.js";
import { kind } from "./record.js";

/** Receives records one by one. */
export interface RecordSink {
  reply(records: Records, record: number): void;
  event(records: Records, record: number): void;
  end(records: Records, record: number): void;
  dropped(stream: number, count: number): void;
  message(records: Records, record: number): void;
  log(records: Records, record: number): void;
  returned(id: number): void;
  closed(): void;
  /** Reports that one of the above methods threw for this record: out of memory, or a view's overridden method that throws. */
  failed(records: Records, record: number, error: unknown): void;
}

// The longest turn of the pump before the event loop continues: an eighth of a frame at 60 Hz. Measured with a source of a million events
// a second: timers are at most 2 ms late, and throughput is within 3 % of a pump without a limit.
const turnMs = 2;

/**
 * Reads records from native code. The addon wakes the pump once, when the first record arrives in an empty queue. The pump then reads
 * until the queue is empty. It pauses a long turn, and continues after the rest of the event loop.
 */
export class Pump {
  #next: NodeJS.Immediate | undefined;
  #reading = false;

  constructor(
    readonly records: Records,
    readonly drain: () => number,
    readonly sink: RecordSink,
  ) {}

  /** Reads the waiting records. The addon calls this, and so does the pump after a pause. */
  readonly run = (): void => {
    // The addon woke the pump during a pause, or a sink runs inside of a turn. The next turn, or the current one, reads the new records.
    if (this.#next !== undefined || this.#reading) return;
    const until = performance.now() + turnMs;
    this.#reading = true;
    try {
      for (;;) {
        const count = this.drain();
        if (count === 0) return;
        this.#read(count);
        if (performance.now() >= until) {
          this.#next = setImmediate(this.#resume);
          return;
        }
      }
    } finally {
      this.#reading = false;
    }
  };

  readonly #resume = (): void => {
    this.#next = undefined;
    this.run();
  };

  #read(count: number): void {
    const { records, sink } = this;
    for (let at = 0; at < count; at += recordsOf(records, at)) {
      // Each record fails separately, because the addon writes the other records of a drain only once.
      try {
        this.#tell(at);
      } catch (error) {
        sink.failed(records, at, error);
      }
    }
  }

  #tell(at: number): void {
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
      case kind.returned:
        return sink.returned(records.get(at, "id"));
      case kind.closed:
        return sink.closed();
    }
  }
}
