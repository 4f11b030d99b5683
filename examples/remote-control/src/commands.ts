// SPDX-License-Identifier: MIT OR Apache-2.0
import { type RoundTrip, type Shown, split } from "./split.js";

/** So many commands may be under way; none is dropped, so one that nobody shows is a fault of the server's. */
const most = 100_000;

/** Remembers when each command was sent, and closes its round trip when a frame shows it. */
export class Commands {
  readonly #sentMs = new Map<number, number>();
  #sent = 0;
  #shown = 0;

  get sent(): number {
    return this.#sent;
  }

  get shown(): number {
    return this.#shown;
  }

  /** Counts a command that leaves now. Throws RangeError when too many were never answered. */
  send(nowMs: number): number {
    if (this.#sentMs.size >= most) throw new RangeError(`the server has shown none of ${most} commands`);
    this.#sentMs.set(++this.#sent, nowMs);
    return this.#sent;
  }

  /** A frame is on the page. One that shows what was never sent, or what was shown before, is told nothing of. */
  painted(shown: readonly Shown[], arrivedMs: number, paintedMs: number): RoundTrip[] {
    const trips: RoundTrip[] = [];
    for (const each of shown) {
      const sentMs = this.#sentMs.get(each.command);
      if (sentMs === undefined) continue;
      this.#sentMs.delete(each.command);
      this.#shown++;
      trips.push(split(each, sentMs, arrivedMs, paintedMs));
    }
    return trips;
  }
}
