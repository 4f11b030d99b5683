import { ChildProcess } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { T as TransportLimits, C as ChannelTransport } from './types-transport.js';
export { a as ChannelSink, b as CloseCode, c as CloseReason } from './types-transport.js';

/** A pair of streams that carry bytes: one stream to read and one to write. */
interface StdioStreams {
    readonly readable: Readable;
    readonly writable: Writable;
}
/**
 * Returns a transport over two streams of bytes, such as a pipe or a socket. A header with the size precedes each frame
 * (spec/stdio.md). The first frame of a tick leaves at once, and the others in one write at its end. Copies an arriving frame at most once,
 * and leaving frames of up to 4 KiB that leave together. The transport owns the streams: no other code
 * may read or write them. On close, it destroys the readable stream and ends the writable stream.
 *
 * The transport does not know the streams' other end. Errors are therefore sent only with code and message, unless the endpoint's
 * `exposeErrors` is true. The transport reads nothing before `open`. Back-pressure comes from the streams: `send` returns false if
 * `windowBytes` or more wait.
 *
 * Closes with `protocol` on bytes that are not a frame, and with `lost` if the streams end without a close frame. Closes with
 * `too-large` on a frame over the limit, before it allocates memory for the frame. Throws `invalid-argument`.
 */
declare function streamTransport(streams: StdioStreams, limits?: TransportLimits): ChannelTransport;
/**
 * Returns the parent's end of a channel to a child process, over the child's standard input and output. Both must be pipes, and
 * the child must not print to its standard output. If the child dies, the transport closes with `lost`, and `detail` is `{
 * exitCode }` or `{ signal }`. If the child cannot be started, the transport closes with `failed`. The caller still owns the
 * process: the transport does not kill it. See {@link streamTransport}. Throws `invalid-argument`.
 */
declare function childTransport(child: ChildProcess, limits?: TransportLimits): ChannelTransport;
/**
 * Returns the child's end of a channel to its parent process, over the process's own standard input and output. No code may
 * print to `process.stdout` meanwhile; `console.error` uses another stream. On POSIX, writing to `process.stdout` is
 * synchronous. A parent that does not read therefore blocks this thread. The parent's end closes the transport. A closed
 * transport does not keep the process alive. See {@link streamTransport}. Throws `invalid-argument`.
 */
declare function parentTransport(limits?: TransportLimits): ChannelTransport;

export { ChannelTransport, TransportLimits, childTransport, parentTransport, streamTransport };
export type { StdioStreams };
