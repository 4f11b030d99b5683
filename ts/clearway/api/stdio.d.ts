import { T as TransportLimits, a as ChannelTransport } from './types-limits.js';
export { b as ChannelSink, c as CloseCode, C as CloseReason } from './types-limits.js';
import { Readable, Writable } from 'node:stream';
import { ChildProcess } from 'node:child_process';

/** A pair of streams that carry bytes: what comes, and what goes. */
interface StdioStreams {
    readonly readable: Readable;
    readonly writable: Writable;
}

/**
 * A transport over two streams of bytes, such as a pipe or a socket: frames with their sizes in front (spec/stdio.md).
 * Copies each frame that arrives once, and none that leaves. The streams are the transport's from now on: nobody else reads
 * or writes there, and when it closes it destroys what comes and ends what goes.
 *
 * Where the streams lead is not known: of errors code and message cross, unless the endpoint's `exposeErrors` is true. Nothing is read
 * before `open`. Backpressure is the streams' own: `send` returns false when more than `windowBytes` wait.
 * Something that is no frame closes it with `protocol`, a frame over the limit with `too-large` before memory is taken for
 * it, the streams' end without a last word with `lost`. Throws `invalid-argument`.
 */
declare function streamTransport(streams: StdioStreams, limits?: TransportLimits): ChannelTransport;
/**
 * The parent's end of a channel to a child process, over the child's standard input and output; they must be pipes, and what
 * the child prints there is no frame. The child's death closes it with `lost`, and says how it died: `detail` is
 * `{ exitCode }` or `{ signal }`; a child that cannot be started closes it with `failed`. The process stays the caller's: it
 * is not killed. See {@link streamTransport}. Throws `invalid-argument`.
 */
declare function childTransport(child: ChildProcess, limits?: TransportLimits): ChannelTransport;
/**
 * The child's end of a channel to the process that started it, over its own standard input and output. Nothing else may be
 * printed to `process.stdout` meanwhile (`console.error` goes elsewhere); on POSIX it is written to synchronously, so that a
 * parent that does not read holds this thread up. The parent's end closes it; nothing of it keeps the process alive then.
 * See {@link streamTransport}. Throws `invalid-argument`.
 */
declare function parentTransport(limits?: TransportLimits): ChannelTransport;

export { ChannelTransport, TransportLimits, childTransport, parentTransport, streamTransport };
export type { StdioStreams };
