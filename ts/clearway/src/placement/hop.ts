// SPDX-License-Identifier: MIT OR Apache-2.0

// A price must have been seen this often before it is acted on.
const periodsNeeded = 3;
// The mean follows within about so many periods, and one period counts for at most this many times the mean.
const window = 8;
const clip = 4;
// Bursts of 1, 2, 3 to 4, 5 to 8 … calls, up to 2^14 and more.
const classes = 15;

interface Price {
  us: number;
  periods: number;
}

/** What the way to a worker and back costs a call, in microseconds, by the size of its burst. A pure value. */
export class Hop {
  readonly #prices: (Price | undefined)[] = new Array(classes).fill(undefined);

  learn(burst: number, us: number): void {
    const at = burstClass(burst);
    this.#prices[at] ??= { us, periods: 0 };
    const price = this.#prices[at];
    price.periods++;
    const clipped = price.periods <= periodsNeeded ? us : Math.min(us, clip * Math.max(1, price.us));
    price.us += (clipped - price.us) / Math.min(price.periods, window);
  }

  /** Per call in a burst of this size; of the nearest size where this one was not seen; undefined where none was. */
  us(burst: number): number | undefined {
    const at = burstClass(burst);
    for (let away = 0; away < classes; away++) {
      // A larger burst first: its calls are cheaper, and too low a price keeps a call in the worker, where it is safe.
      const price = this.#known(at + away) ?? this.#known(at - away);
      if (price !== undefined) return price.us;
    }
    return undefined;
  }

  #known(at: number): Price | undefined {
    const price = this.#prices[at];
    return price !== undefined && price.periods >= periodsNeeded ? price : undefined;
  }
}

/** Bursts of one class are of one price. */
export function burstClass(burst: number): number {
  return Math.min(classes - 1, 32 - Math.clz32(Math.max(0, burst - 1)));
}
