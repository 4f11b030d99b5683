// SPDX-License-Identifier: MIT OR Apache-2.0
import { notLoaded } from "../../error/not-loaded.js";
import { lazyModule } from "../../lazy/lazy-module.js";
import { Reader } from "../../stream/reader.js";
import type { MapSource } from "./map-types.js";
import type { Mapping } from "./mapping.js";

const loadMapping = /* @__PURE__ */ lazyModule(
  async () => import("./mapping.js"),
  (cause) => notLoaded("what maps inputs", cause),
);

/**
 * The results of `pool.map`: an async iterable, and a promise-like of an array. Starts nothing before the first `next()` or `then()`. The
 * code behind it is loaded then. The mapping refers to this object only weakly, so it notices when the caller drops it.
 */
export class MapResults extends Reader implements PromiseLike<unknown[]> {
  readonly #source: MapSource;
  #mapping: Promise<Mapping> | undefined;

  constructor(source: MapSource) {
    super();
    this.#source = source;
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#open().then((mapping) => mapping.next(this));
  }

  /** Cancels the open calls and closes the inputs. Does not wait for either. */
  return(): Promise<IteratorResult<unknown>> {
    return this.#open().then((mapping) => mapping.return());
  }

  // biome-ignore lint/suspicious/noThenProperty: the results can be awaited as an array
  then<A = unknown[], B = never>(
    resolve?: ((results: unknown[]) => A | PromiseLike<A>) | null,
    reject?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#open()
      .then((mapping) => mapping.collect(this))
      .then(resolve, reject);
  }

  #open(): Promise<Mapping> {
    this.#mapping ??= loadMapping().then(({ Mapping }) => Mapping.of(this, this.#source));
    return this.#mapping;
  }
}
