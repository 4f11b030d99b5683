/**
 * The error codes that only channels use. They are in a separate file so that an app without channels does not load them;
 * spec/errors.md lists all codes. A test compares each code's comment with that page.
 */
declare const channelErrorCodes: readonly ["not-implemented", "no-handler", "transport-closed"];
/** One of the codes of {@link channelErrorCodes}. */
type ChannelErrorCode = (typeof channelErrorCodes)[number];

/**
 * The error codes that a codec throws. All these errors have an `offset`.
 *
 * The codes are in a separate file so that an app without channels does not load them. spec/errors.md lists all codes, and spec/wire.md
 * defines the offset of each. A test compares each code's comment with spec/errors.md.
 */
declare const codecErrorCodes: readonly ["truncated", "trailing-bytes", "unknown-tag", "bad-utf8", "malformed", "too-deep", "too-large", "not-encodable", "unsupported-host"];
/** One of the codes of {@link codecErrorCodes}. */
type CodecErrorCode = (typeof codecErrorCodes)[number];

/**
 * Every code of a {@link ClearwayError}, except for those of codecs and channels.
 *
 * Those are `codecErrorCodes` and `channelErrorCodes` of `clearway/channel`. The list is a contract: other languages use the same
 * codes, and a test compares it, with each code's comment, with `spec/errors.md`.
 */
declare const errorCodes: readonly ["invalid-argument", "unknown-task", "not-cloneable", "would-copy", "queue-full", "dropped", "cancelled", "timeout", "deadline", "worker-start-failed", "worker-crashed", "worker-exited", "out-of-memory", "message-error", "resource-failed", "pool-closed", "pool-terminated", "not-a-stream", "abandoned", "released", "missing-package", "protocol"];
/** Every code of a `ClearwayError`: of pools and tasks, of codecs, of channels. `spec/errors.md` explains each. */
type ErrorCode = (typeof errorCodes)[number] | CodecErrorCode | ChannelErrorCode;

/**
 * The error that Clearway itself throws. Errors of your tasks keep their own class name, message and properties.
 *
 * Distinguish cases by {@link ClearwayError.code}, never by the message.
 */
declare class ClearwayError extends Error {
    readonly name = "ClearwayError";
    /** The kind of error, from a closed list. */
    readonly code: ErrorCode;
    constructor(code: ErrorCode, message: string, options?: ErrorOptions);
    /**
     * Recognizes the errors of every copy of this class by their brand. Each entry of the package is bundled with its own copy of the
     * class.
     */
    static [Symbol.hasInstance](value: unknown): boolean;
}

declare const movedBrand: unique symbol;
/**
 * A value under {@link move}. Clearway unwraps it only if it is itself an argument, a result or a yielded value. Inside another object
 * the call fails with `not-cloneable`. Otherwise the value would be copied unnoticed.
 */
interface Moved<T> {
    readonly [movedBrand]: T;
}
/**
 * Marks a value to be moved. The sender loses every buffer, port and stream in the value, at any depth. None of them is copied.
 *
 * Throws `would-copy` if the value contains memory that cannot be moved.
 *
 * With `transfer`, Clearway moves exactly those objects and skips the search. Use it for values with very many nodes, or to move a whole
 * buffer if the value shows only a part of it. Throws `invalid-argument` if `transfer` is not an array of objects.
 */
declare function move<T>(value: T, transfer?: readonly object[]): Moved<T>;

export { ClearwayError as C, channelErrorCodes as c, codecErrorCodes as d, move as m };
export type { ErrorCode as E, Moved as M, CodecErrorCode as a, ChannelErrorCode as b };
