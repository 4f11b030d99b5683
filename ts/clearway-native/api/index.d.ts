export { A as Attachments, L as LentMemory, a as ListenOptions, N as NativeChannel, b as NativeCopyReason, c as NativeEvents, d as NativeFeatures, e as NativeLedger, f as NativeLedgerSide, g as NativeMemory, h as NativeMessage, i as Payload, P as Plugin, j as PluginOptions, k as PluginStats, S as SendOptions, V as ViewKind, W as WhenFull, l as latest, m as loadPlugin, n as nativeFeatures } from './types-plugin.js';

/** Every code that a {@link NativeError} may have. A test compares the codes and their comments with `spec/errors.md`. */
declare const nativeErrorCodes: readonly ["invalid-argument", "addon-missing", "load-failed", "not-a-plugin", "wrong-version", "init-failed", "not-direct", "no-handler", "not-implemented", "failed", "panicked", "bad-answer", "full", "too-large", "overflow", "out-of-memory", "released", "cancelled", "closed", "would-copy"];
/** One of the codes of {@link nativeErrorCodes}. */
type NativeErrorCode = (typeof nativeErrorCodes)[number];
/** An error of this package. Distinguish errors by {@link NativeError.code}, not by their message. */
declare class NativeError extends Error {
    readonly name = "NativeError";
    /** The kind of the error. */
    readonly code: NativeErrorCode;
    constructor(code: NativeErrorCode, message: string, options?: ErrorOptions);
}

export { NativeError, nativeErrorCodes };
export type { NativeErrorCode };
