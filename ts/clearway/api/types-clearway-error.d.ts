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
 * The codes of a {@link ClearwayError}, without those of codecs and channels.
 *
 * `clearway/channel` exports the other codes, as `codecErrorCodes` and `channelErrorCodes`. The list is a contract: other languages use the
 * same codes. A test compares the list, with the comment of each code, with `spec/errors.md`.
 */
declare const errorCodes: readonly ["invalid-argument", "unknown-task", "not-cloneable", "would-copy", "queue-full", "dropped", "cancelled", "timeout", "deadline", "worker-start-failed", "setup-failed", "worker-crashed", "worker-exited", "out-of-memory", "message-error", "resource-failed", "broadcast-failed", "pool-closed", "pool-terminated", "callback-ended", "unknown-handler", "not-a-stream", "abandoned", "released", "missing-package", "protocol"];
/**
 * Every code of a `ClearwayError`: the codes of pools and tasks, of codecs, and of channels. The page `spec/errors.md` explains each code.
 */
type ErrorCode = (typeof errorCodes)[number] | CodecErrorCode | ChannelErrorCode;

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

export { ClearwayError as C, channelErrorCodes as c, codecErrorCodes as d };
export type { ErrorCode as E, CodecErrorCode as a, ChannelErrorCode as b };
