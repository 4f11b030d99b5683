// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Maximum bytes that the calls of a process have at once, and the calls that wait for room, in order. A call with more bytes than the maximum
 * has them alone.
 */
export class ByteBudget {
  readonly #bytesMax: number;
  readonly #waiting: { readonly bytes: number; readonly start: () => void }[] = [];
  #used = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Waits until there is room for the bytes, and takes it. Resolves with a function that gives it back, once. */
  async take(bytes: number): Promise<() => void> {
    if (this.#waiting.length === 0 && this.#fits(bytes)) this.#used += bytes;
    else await new Promise<void>((start) => this.#waiting.push({ bytes, start }));
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#used -= bytes;
      this.#startNext();
    };
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#bytesMax;
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#used += next.bytes;
      next.start();
    }
  }
}
