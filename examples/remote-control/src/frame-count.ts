// SPDX-License-Identifier: MIT OR Apache-2.0

/** Counts the frames that arrived, and those that the server dropped for newer ones. It reads no clock: the caller passes the time. */
export class FrameCount {
  #first: number | undefined;
  #newest = 0;
  #shown = 0;
  #arrivedMs: number[] = [];

  /** Counts a frame. `number` is its number: the server also counts the frames that it drops. */
  add(number: number, nowMs: number): void {
    this.#first ??= number;
    this.#newest = number;
    this.#shown++;
    this.#arrivedMs.push(nowMs);
  }

  /** Begins again with the next frame. */
  clear(): void {
    this.#first = undefined;
    this.#shown = 0;
  }

  get shown(): number {
    return this.#shown;
  }

  /** The frames that the server drew, from the first counted one to the newest. */
  get made(): number {
    return this.#first === undefined ? 0 : this.#newest - this.#first + 1;
  }

  get dropped(): number {
    return this.made - this.#shown;
  }

  /** Returns the number of frames in the last second. `clear` does not change it. */
  lastSecond(nowMs: number): number {
    this.#arrivedMs = this.#arrivedMs.filter((arrivedMs) => arrivedMs >= nowMs - 1000);
    return this.#arrivedMs.length;
  }
}
