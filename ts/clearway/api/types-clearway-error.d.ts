/**
 * The codes of errors that a codec throws, all with an `offset`. They stand beside the other codes so that an app without
 * channels does not load them; spec/errors.md lists both, and spec/wire.md says which offset each has.
 */
declare const codecErrorCodes: readonly ["truncated", "trailing-bytes", "unknown-tag", "bad-utf8", "malformed", "too-deep", "too-large", "not-encodable", "unsupported-host"];
/** One of the codes of {@link codecErrorCodes}. */
type CodecErrorCode = (typeof codecErrorCodes)[number];

/**
 * Every code a {@link ClearwayError} may carry, except for those of codecs (`codecErrorCodes` of `clearway/channel`). The list is the contract: other languages use the same codes, and a test
 * compares it, with what each means, with `spec/errors.md`.
 */
declare const errorCodes: readonly ["invalid-argument", "unknown-task", "not-cloneable", "would-copy", "queue-full", "dropped", "cancelled", "timeout", "deadline", "worker-start-failed", "worker-crashed", "worker-exited", "out-of-memory", "message-error", "resource-failed", "pool-closed", "pool-terminated", "not-a-stream", "abandoned", "released", "missing-package", "protocol"];
/** One of the codes of {@link errorCodes}, or one that a codec throws. */
type ErrorCode = (typeof errorCodes)[number] | CodecErrorCode;

/**
 * What Clearway itself throws. Errors of your tasks keep their own class name, message and properties.
 * Tell cases apart by {@link ClearwayError.code}, never by the message.
 */
declare class ClearwayError extends Error {
    readonly name = "ClearwayError";
    /** What went wrong, from a closed list. */
    readonly code: ErrorCode;
    constructor(code: ErrorCode, message: string, options?: ErrorOptions);
    static [Symbol.hasInstance](value: unknown): boolean;
}

export { ClearwayError as C, codecErrorCodes as c, errorCodes as e };
export type { ErrorCode as E, CodecErrorCode as a };
