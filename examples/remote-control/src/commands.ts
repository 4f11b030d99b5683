// SPDX-License-Identifier: MIT OR Apache-2.0
import { type RoundTrip, type Shown, split } from "./split.js";

/** Maximum number of commands in flight. None is dropped, so a command that no frame shows is a fault of the server. */
const most = 100_000;

/** Stores when each command was sent, and completes its round trip when a frame shows it. */
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

  /** Counts a command that is sent now, and returns its number. Throws RangeError when too many were never shown. */
  send(nowMs: number): number {
    if (this.#sentMs.size >= most) throw new RangeError(`the server has shown none of ${most} commands`);
    this.#sentMs.set(++this.#sent, nowMs);
    return this.#sent;
  }

  /** Returns the round trips of the commands that a painted frame shows. Ignores commands that were never sent or already shown. */
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
