// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Addon, Handle, ViewKind } from "./addon.js";
import { NativeError } from "./error.js";
import { enterCopy, type NativeLedgerSide } from "./ledger.js";

/** The properties of the plugin that native memory uses. */
export interface MemoryOwner {
  readonly addon: Addon;
  readonly port: object;
  readonly views: ViewKind;
  readonly fromNative: NativeLedgerSide;
  /** The number of memories and loans that the garbage collector released. */
  leaked: number;
}

/** The memory to release, for the registry below. */
interface UnreleasedMemory {
  owner: MemoryOwner;
  handle: Handle;
}

// After a `NativeMemory` was collected without a call of `release()`, releases its memory. Does not detach the buffer, because code may
// still use a view of it.
const releaseRegistry = new FinalizationRegistry<UnreleasedMemory>(({ owner, handle }) => {
  owner.leaked++;
  owner.addon.release(owner.port, handle);
});

// The garbage collector does not count the native memory of a SharedArrayBuffer, so `#createView` reports it with `adjust`. After the
// buffer was collected, this registry reports that the memory is gone.
const externalMemoryRegistry = new FinalizationRegistry<{ owner: MemoryOwner; size: number }>(({ owner, size }) => {
  owner.addon.adjust(owner.port, -size);
});

/**
 * Native memory that JavaScript can view, without a copy if the runtime supports that. End its use with `using` or `release()`. A
 * `detachable` view is then empty, and the native memory can be reused at once. If its owner does not release the memory, the garbage
 * collector releases it later. The plugin's `stats().leaked` counts such memories.
 *
 * A `shared` view cannot be detached, because another thread may be reading it. After the release, `bytes` throws, but views that were
 * read before stay valid. The memory is reused only after every thread has dropped its views.
 */
export class NativeMemory implements Disposable {
  /** The size in bytes. */
  readonly size: number;
  readonly #owner: MemoryOwner;
  #handle: Handle | undefined;
  #bytes: Uint8Array | undefined;
  // The view's buffer. Code may redefine the property `buffer` of the view.
  #buffer: ArrayBuffer | SharedArrayBuffer | undefined;
  #kind: ViewKind | undefined;

  /** @internal */
  constructor(owner: MemoryOwner, handle: Handle) {
    this.#owner = owner;
    this.#handle = handle;
    this.size = owner.addon.size(owner.port, handle);
    releaseRegistry.register(this, { owner, handle }, this);
  }

  /** The kind of the view. Reading `kind` or `bytes` for the first time creates the view. Throws `released` after the release. */
  get kind(): ViewKind {
    void this.bytes;
    return this.#kind as ViewKind;
  }

  /**
   * A view of the whole memory. It is the same object each time. Do not write to the view of [sealed]{@link sealed} memory. Throws `released`
   * after the release.
   */
  get bytes(): Uint8Array {
    if (this.#handle === undefined)
      throw new NativeError("released", `the native memory was released: size=${this.size}`);
    this.#bytes ??= this.#createView(this.#handle);
    return this.#bytes;
  }

  /**
   * Whether a holder has sealed the memory. No holder may write to sealed memory, because the others may use its bytes without a copy.
   * JavaScript has no read-only views, so nothing stops a write: it changes bytes that native code relies on, and ends the process if the
   * plugin's memory is read-only. Write to a copy instead, for example to `bytes.slice()`. Throws `released` after the release.
   */
  get sealed(): boolean {
    return this.#owner.addon.isSealed(this.#owner.port, this.handle);
  }

  /** Whether `release()` was called. */
  get released(): boolean {
    return this.#handle === undefined;
  }

  /** Releases JavaScript's reference at once, without waiting for a garbage collection. Calling it again does nothing. */
  release(): void {
    const handle = this.#handle;
    if (handle === undefined) return;
    const buffer = this.#buffer;
    this.#handle = undefined;
    this.#bytes = undefined;
    this.#buffer = undefined;
    releaseRegistry.unregister(this);
    this.#owner.addon.release(this.#owner.port, handle, buffer);
  }

  /** Releases the memory at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.release();
  }

  /** @internal The core's handle of the memory. Throws `released` after the release. */
  get handle(): Handle {
    if (this.#handle === undefined)
      throw new NativeError("released", `the native memory was released: size=${this.size}`);
    return this.#handle;
  }

  #createView(handle: Handle): Uint8Array {
    const { addon, port, views, fromNative } = this.#owner;
    for (const kind of fallbacks[views]) {
      const buffer = addon.view(port, handle, kind);
      if (!buffer) continue;
      this.#kind = kind;
      this.#buffer = buffer;
      if (kind === "copied") enterCopy(fromNative, "not-viewed", this.size);
      else if (kind === "detachable") fromNative.movedBytes += this.size;
      else {
        fromNative.sharedBytes += this.size;
        addon.adjust(port, this.size);
        externalMemoryRegistry.register(buffer, { owner: this.#owner, size: this.size });
      }
      return new Uint8Array(buffer);
    }
    throw new NativeError("released", `the native memory is gone: size=${this.size}`);
  }
}

/** The kinds of view to try, by the preferred kind, in the order of trying. */
const fallbacks: Record<ViewKind, readonly ViewKind[]> = {
  shared: ["shared", "detachable", "copied"],
  detachable: ["detachable", "copied"],
  copied: ["copied"],
};
