// SPDX-License-Identifier: MIT OR Apache-2.0
// A hand-written id map. It finds the promise of a call by the call's id.

export class PendingCalls {
  readonly #pending = new Map<number, (value: unknown) => void>();
  #nextId = 0;

  /** Sends a call with a new id. Resolves when `settle` is called with that id. */
  call(send: (id: number) => void): Promise<unknown> {
    return new Promise((resolve) => {
      const id = this.#nextId++;
      this.#pending.set(id, resolve);
      send(id);
    });
  }

  /** Resolves the call with this id. Ignores an unknown id. */
  settle(id: number, value: unknown): void {
    const resolve = this.#pending.get(id);
    this.#pending.delete(id);
    resolve?.(value);
  }
}
