/**
 * The codes of errors that only channels have. They stand beside the other codes so that an app without channels does not load
 * them; spec/errors.md lists all.
 */
declare const channelErrorCodes: readonly ["not-implemented", "no-handler", "transport-closed"];
/** One of the codes of {@link channelErrorCodes}. */
type ChannelErrorCode = (typeof channelErrorCodes)[number];

/**
 * The codes of errors that a codec throws, all with an `offset`. They stand beside the other codes so that an app without
 * channels does not load them; spec/errors.md lists both, and spec/wire.md says which offset each has.
 */
declare const codecErrorCodes: readonly ["truncated", "trailing-bytes", "unknown-tag", "bad-utf8", "malformed", "too-deep", "too-large", "not-encodable", "unsupported-host"];
/** One of the codes of {@link codecErrorCodes}. */
type CodecErrorCode = (typeof codecErrorCodes)[number];

/**
 * Every code a {@link ClearwayError} may carry, except for those of codecs and channels (`codecErrorCodes` and
 * `channelErrorCodes` of `clearway/channel`). The list is the contract: other languages use the same codes, and a test compares
 * it, with what each means, with `spec/errors.md`.
 */
declare const errorCodes: readonly ["invalid-argument", "unknown-task", "not-cloneable", "would-copy", "queue-full", "dropped", "cancelled", "timeout", "deadline", "worker-start-failed", "worker-crashed", "worker-exited", "out-of-memory", "message-error", "resource-failed", "pool-closed", "pool-terminated", "not-a-stream", "abandoned", "released", "missing-package", "protocol"];
/** One of the codes of {@link errorCodes}, or one that a codec or a channel throws. */
type ErrorCode = (typeof errorCodes)[number] | CodecErrorCode | ChannelErrorCode;

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

declare const movedBrand: unique symbol;
/**
 * A value under {@link move}. Only Clearway unwraps it, and only where it stands as an argument, a result or a yielded
 * value itself: inside another object it makes the call fail with `not-cloneable`, rather than be copied unseen.
 */
interface Moved<T> {
    readonly [movedBrand]: T;
}
/**
 * Marks a value to be moved: the sender loses every buffer, port and stream inside it, at any depth, and nothing of
 * them is copied. Throws `would-copy` where something inside cannot be moved and would have to be copied.
 *
 * With `transfer`, exactly those objects are moved and the search is skipped; use it for values with very many nodes, or
 * to move a whole buffer of which the value shows only a part. Throws `invalid-argument` where that is no array of objects.
 */
declare function move<T>(value: T, transfer?: readonly object[]): Moved<T>;

export { ClearwayError as C, channelErrorCodes as c, codecErrorCodes as d, move as m };
export type { ErrorCode as E, Moved as M, CodecErrorCode as a, ChannelErrorCode as b };
