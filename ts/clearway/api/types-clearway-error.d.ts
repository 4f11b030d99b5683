/**
 * An error that Clearway itself throws. An error that your task throws keeps its own class name, message and properties.
 *
 * Distinguish errors by {@link ClearwayError.code}, never by the message.
 */
declare class ClearwayError extends Error {
    readonly name = "ClearwayError";
    /** The kind of error. The list of codes is closed. */
    readonly code: ErrorCode;
    constructor(code: ErrorCode, message: string, options?: ErrorOptions);
    /**
     * Makes `instanceof` recognize the errors of every copy of this class, by their brand. Each entry point of the package is bundled with
     * its own copy of the class.
     */
    static [Symbol.hasInstance](value: unknown): boolean;
}
/** Returns an error with the given cause. If the cause is undefined, the error has no `cause` property. */
declare function caused(code: ErrorCode, message: string, cause: unknown): ClearwayError;
/** Returns an `invalid-argument` error with the message `name must be …: name=value`. Does not read the properties of the value. */
declare function invalid(name: string, must: string, value: unknown): ClearwayError;
/**
 * The error codes that only channels use. These codes are in a separate file, so that an app without channels does not load them. The page
 * spec/errors.md lists all codes. A test compares the comment of each code with that page.
 */
declare const channelErrorCodes: readonly ["not-implemented", "no-handler", "transport-closed"];
/** One of the codes of {@link channelErrorCodes}. */
type ChannelErrorCode = (typeof channelErrorCodes)[number];
/**
 * The error codes that a codec throws. Each of these errors has an `offset`.
 *
 * These codes are in a separate file, so that an app without channels does not load them. The page spec/errors.md lists all codes. The page
 * spec/wire.md defines the offset for each code. A test compares the comment of each code with spec/errors.md.
 */
declare const codecErrorCodes: readonly ["truncated", "trailing-bytes", "unknown-tag", "bad-utf8", "malformed", "too-deep", "too-large", "not-encodable", "unsupported-host"];
/** One of the codes of {@link codecErrorCodes}. */
type CodecErrorCode = (typeof codecErrorCodes)[number];
/**
 * The error codes that only pools with workers on other machines use. These codes are in a separate file, so that an app without such pools
 * does not load them. The page spec/errors.md lists all codes. A test compares the comment of each code with that page.
 */
declare const remoteErrorCodes: readonly ["connect-failed", "not-allowed", "no-worker", "wrong-version", "worker-lost", "interrupted", "dead-letter", "storage-lost"];
/** One of the codes of {@link remoteErrorCodes}. */
type RemoteErrorCode = (typeof remoteErrorCodes)[number];
/**
 * The codes of a {@link ClearwayError}, without those of codecs, channels and remote pools.
 *
 * `clearway/channel` exports the codes of codecs and channels, as `codecErrorCodes` and `channelErrorCodes`, and `clearway/remote` those of
 * remote pools, as `remoteErrorCodes`. The list is a contract: other languages use the same codes. A test compares the list, with the comment
 * of each code, with `spec/errors.md`.
 */
declare const errorCodes: readonly ["invalid-argument", "unknown-task", "not-cloneable", "would-copy", "queue-full", "dropped", "cancelled", "timeout", "deadline", "worker-start-failed", "setup-failed", "worker-crashed", "worker-exited", "out-of-memory", "message-error", "resource-failed", "broadcast-failed", "pool-closed", "pool-terminated", "callback-ended", "unknown-handler", "not-a-stream", "abandoned", "released", "missing-package", "protocol"];
/**
 * Every code of a `ClearwayError`: the codes of pools and tasks, of codecs, of channels, and of remote pools. The page `spec/errors.md`
 * explains each code.
 */
type ErrorCode = (typeof errorCodes)[number] | CodecErrorCode | ChannelErrorCode | RemoteErrorCode;

export { ClearwayError as C, caused as c, channelErrorCodes as d, codecErrorCodes as e, invalid as i, remoteErrorCodes as r };
export type { ErrorCode as E, RemoteErrorCode as R, CodecErrorCode as a, ChannelErrorCode as b };
