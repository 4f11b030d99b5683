// SPDX-License-Identifier: MIT OR Apache-2.0
// A hand-written id map. It finds the promise of an answer by the answer's id.

export class Answers {
  readonly #waiting = new Map<number, (value: unknown) => void>();
  #next = 0;

  /** Sends a question with a new id. Resolves when that id is answered. */
  ask(send: (id: number) => void): Promise<unknown> {
    return new Promise((resolve) => {
      const id = this.#next++;
      this.#waiting.set(id, resolve);
      send(id);
    });
  }

  answer(id: number, value: unknown): void {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(value);
  }
}
