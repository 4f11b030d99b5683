// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Addon, Slot, ViewKind } from "./addon.js";
import { NativeError } from "./error.js";
import { enterCopy, type NativeLedgerSide } from "./ledger.js";

/** What a memory needs of the plugin that it came from. */
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

// The net under those who forget `release()`: without the detaching, since a view may have outlived its memory's object.
const net = new FinalizationRegistry<Net>(({ home, slot }) => {
  home.leaked++;
  home.addon.release(home.port, slot);
});

// The garbage collector does not count what a SharedArrayBuffer of native memory holds, so it is told, and told again here.
const outside = new FinalizationRegistry<{ home: MemoryHome; size: number }>(({ home, size }) => {
  home.addon.adjust(home.port, -size);
});

/**
 * Native memory, seen from JavaScript without a copy where the runtime can. Give it back with `using` or `release()`: then
 * a view of kind `detachable` is empty, and a native slab is free for its next use. Where that is forgotten, the garbage
 * collector does it some time, and the plugin's `stats().leaked` counts it.
 *
 * A `shared` view cannot be taken away, because another thread may be reading it: after the release, `bytes` throws, and
 * what was taken from it before stays readable; its memory is not used anew until no thread has it any more.
 */
export class NativeMemory implements Disposable {
  /** Bytes. */
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

  /** How JavaScript sees it; made with the first look at `bytes`. */
  get kind(): ViewKind {
    void this.bytes;
    return this.#kind as ViewKind;
  }

  /** All of it. The same object each time. Throws `released` after the release. */
  get bytes(): Uint8Array {
    if (this.#slot === undefined)
      throw new NativeError("released", `the native memory was released: size=${this.size}`);
    this.#bytes ??= this.#look(this.#slot);
    return this.#bytes;
  }

  get released(): boolean {
    return this.#slot === undefined;
  }

  /** Gives this side's reference up. At once, without waiting for a collection. Again does nothing. */
  release(): void {
    const slot = this.#slot;
    if (slot === undefined) return;
    const buffer = this.#bytes?.buffer;
    this.#slot = undefined;
    this.#bytes = undefined;
    net.unregister(this);
    this.#home.addon.release(this.#home.port, slot, buffer);
  }

  [Symbol.dispose](): void {
    this.release();
  }

  /** @internal The number by which the addon knows it. Throws `released`. */
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

/** What is tried, one after the other. */
const fallbacks: Record<ViewKind, readonly ViewKind[]> = {
  shared: ["shared", "detachable", "copied"],
  detachable: ["detachable", "copied"],
  copied: ["copied"],
};
