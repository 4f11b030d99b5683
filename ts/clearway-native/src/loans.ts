// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Addon, Handle } from "./addon.js";
import { statusError } from "./error.js";
import { enterCopy, type NativeCopyReason, type NativeLedgerSide } from "./ledger.js";
import { handleOf, type Payload } from "./message.js";

// The minimum size of a message that is lent instead of copied, in bytes. Lending costs about as much as copying this number of bytes,
// 0.3 us. The lab's scenario `native` measured it.
const loanBytesMin = 4096;

/** The properties of the plugin instance that its loans use. */
export interface LoansOwner {
  readonly addon: Addon;
  readonly port: object;
}

/** A loan that has started. */
export interface StartedLoan {
  readonly id: number;
  /** The core's handle of the lent memory. Its owner must release it. */
  readonly handle: Handle;
}

/** The loans of one plugin instance: JavaScript's memory that native code uses without a copy. */
export class Loans {
  readonly #owner: LoansOwner;
  readonly #toNative: NativeLedgerSide;
  readonly #nextId: () => number;
  /** Whether this Node can lend JavaScript's memory to native code. */
  readonly #lends: boolean;
  readonly #open = new Map<number, { bytes: Uint8Array; returned: (() => void) | undefined }>();

  /** `nextId` returns a new number for each loan. */
  constructor(owner: LoansOwner, toNative: NativeLedgerSide, nextId: () => number) {
    this.#owner = owner;
    this.#toNative = toNative;
    this.#nextId = nextId;
    this.#lends = owner.addon.features().keeps;
  }

  /** The number of loans that native code has not returned. */
  get count(): number {
    return this.#open.size;
  }

  get areSupported(): boolean {
    return this.#lends;
  }

  /** Returns the view that was lent with this number. Returns undefined if native code has returned it. */
  viewOf(id: number): Uint8Array | undefined {
    return this.#open.get(id)?.bytes;
  }

  /**
   * Lends a view's memory. Calls `returned` when native code has returned it. Returns undefined, and lends nothing, if the memory cannot be
   * kept because its buffer is resizable.
   */
  start(bytes: Uint8Array, returned?: () => void): StartedLoan | undefined {
    const id = this.#nextId();
    const handle = this.#owner.addon.lend(this.#owner.port, bytes, id);
    if (handle < 0) throw statusError(-handle, "lend");
    if (handle === 0) return undefined;
    this.#open.set(id, { bytes, returned });
    this.#toNative.sharedBytes += bytes.byteLength;
    return { id, handle };
  }

  /** Calls `returned` when native code has returned the memory. Returns false, and does nothing, if it has returned it already. */
  onReturn(id: number | undefined, returned: () => void): boolean {
    const loan = id === undefined ? undefined : this.#open.get(id);
    if (loan === undefined) return false;
    loan.returned = returned;
    return true;
  }

  /** Ends a loan, because native code has returned the memory. */
  end(id: number): void {
    const loan = this.#open.get(id);
    this.#open.delete(id);
    loan?.returned?.();
  }

  /**
   * Calls `use` with a payload in the addon's form, and with the number of the loan if the payload's bytes are lent. Lends large bytes if
   * `mayLend` is true, and copies all others. Enters into the ledger whether the payload is shared or copied.
   */
  withPayload(
    payload: Payload,
    mayLend: boolean,
    use: (payload?: Uint8Array | Handle | undefined, loan?: number) => number,
  ): number {
    if (payload === null) return use();
    if (!(payload instanceof Uint8Array)) {
      const status = use(handleOf(payload));
      this.#toNative.sharedBytes += payload.size;
      return status;
    }
    const reason = this.#copyReason(payload, mayLend);
    const loan = reason === undefined ? this.start(payload) : undefined;
    if (loan === undefined) {
      enterCopy(this.#toNative, reason ?? "resizable", payload.byteLength);
      return use(payload);
    }
    try {
      return use(loan.handle, loan.id);
    } finally {
      // If native code keeps the memory, it has its own reference now.
      this.#owner.addon.release(this.#owner.port, loan.handle);
    }
  }

  /** Returns the reason for which bytes must be copied. Returns undefined if they can be lent, unless their buffer is resizable. */
  #copyReason(bytes: Uint8Array, mayLend: boolean): NativeCopyReason | undefined {
    if (bytes.byteLength < loanBytesMin) return "small";
    if (!this.#lends) return "not-kept";
    return mayLend ? undefined : "may-outlive";
  }
}
