// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Addon, Slot, ViewKind } from "./addon.js";
import { NativeError } from "./error.js";
import { enterCopy, type NativeLedgerSide } from "./ledger.js";

/** The interface that native memory needs of its plugin. */
export interface MemoryHome {
  readonly addon: Addon;
  readonly port: object;
  readonly views: ViewKind;
  readonly fromNative: NativeLedgerSide;
  leaked: number;
}

interface Net {
  home: MemoryHome;
  slot: Slot;
}

// Releases memory whose owner did not call `release()`. Does not detach the buffer, because a view may outlive the memory's object.
const net = new FinalizationRegistry<Net>(({ home, slot }) => {
  home.leaked++;
  home.addon.release(home.port, slot);
});

// The garbage collector does not count the native memory of a SharedArrayBuffer. `adjust` reports the memory to the collector. This
// registry reverts the report.
const outside = new FinalizationRegistry<{ home: MemoryHome; size: number }>(({ home, size }) => {
  home.addon.adjust(home.port, -size);
});

/**
 * Native memory, viewed from JavaScript without a copy if the runtime supports that. End its use with `using` or `release()`. A
 * `detachable` view is then empty, and a native slab is free for its next use. If the owner forgets the release, the garbage collector
 * does it later, and the plugin's `stats().leaked` counts it.
 *
 * A `shared` view cannot be detached, because another thread may be reading it. After the release `bytes` throws, but earlier views stay
 * readable. The memory is reused only after every thread has dropped its views.
 */
export class NativeMemory implements Disposable {
  /** Size in bytes. */
  readonly size: number;
  readonly #home: MemoryHome;
  #slot: Slot | undefined;
  #bytes: Uint8Array | undefined;
  #kind: ViewKind | undefined;

  /** @internal */
  constructor(home: MemoryHome, slot: Slot) {
    this.#home = home;
    this.#slot = slot;
    this.size = home.addon.size(home.port, slot);
    net.register(this, { home, slot }, this);
  }

  /** The kind of view. The first use of `bytes` or `kind` creates the view. */
  get kind(): ViewKind {
    void this.bytes;
    return this.#kind as ViewKind;
  }

  /** A view of all the memory: the same object each time. Throws `released` after the release. */
  get bytes(): Uint8Array {
    if (this.#slot === undefined)
      throw new NativeError("released", `the native memory was released: size=${this.size}`);
    this.#bytes ??= this.#look(this.#slot);
    return this.#bytes;
  }

  get released(): boolean {
    return this.#slot === undefined;
  }

  /** Releases this side's reference at once, without waiting for a garbage collection. Calling it again does nothing. */
  release(): void {
    const slot = this.#slot;
    if (slot === undefined) return;
    const buffer = this.#bytes?.buffer;
    this.#slot = undefined;
    this.#bytes = undefined;
    net.unregister(this);
    this.#home.addon.release(this.#home.port, slot, buffer);
  }

  /** Releases the memory at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.release();
  }

  /** @internal The addon's number of the memory. Throws `released`. */
  get slot(): Slot {
    if (this.#slot === undefined)
      throw new NativeError("released", `the native memory was released: size=${this.size}`);
    return this.#slot;
  }

  #look(slot: Slot): Uint8Array {
    const { addon, port, views, fromNative } = this.#home;
    for (const kind of fallbacks[views]) {
      const buffer = addon.view(port, slot, kind);
      if (!buffer) continue;
      this.#kind = kind;
      if (kind === "copied") enterCopy(fromNative, "not-viewed", this.size);
      else if (kind === "detachable") fromNative.movedBytes += this.size;
      else {
        fromNative.sharedBytes += this.size;
        addon.adjust(port, this.size);
        outside.register(buffer, { home: this.#home, size: this.size });
      }
      return new Uint8Array(buffer);
    }
    throw new NativeError("released", `the native memory is gone: size=${this.size}`);
  }
}

/** Kinds of view to try, in order. */
const fallbacks: Record<ViewKind, readonly ViewKind[]> = {
  shared: ["shared", "detachable", "copied"],
  detachable: ["detachable", "copied"],
  copied: ["copied"],
};
