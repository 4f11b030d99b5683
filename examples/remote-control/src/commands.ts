// SPDX-License-Identifier: MIT OR Apache-2.0
import { type RoundTrip, type Shown, split } from "./split.js";

/** Maximum number of commands in flight. Commands are never dropped, so if a command is never shown, the server has a fault. */
const most = 100_000;

/** Stores when each command was sent. Completes the command's round trip when a frame shows it. */
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

  /** Counts a command that is sent now. Returns its number. Throws RangeError if too many commands were never shown. */
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
