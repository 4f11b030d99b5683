// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import clearway.channel.endpoint.Clock
import clearway.channel.endpoint.SystemClock
import java.io.BufferedOutputStream
import java.io.FileDescriptor
import java.io.FileInputStream
import java.io.FileOutputStream
import java.io.IOException
import java.io.InputStream
import java.io.OutputStream
import java.util.ArrayDeque
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/**
 * Carries frames over two streams of bytes, such as a pipe, a socket or a process's standard streams. The size of each
 * frame precedes it (spec/stdio.md). Copies each incoming frame. Copies an outgoing frame only if it is smaller than
 * the output buffer. The transport owns the streams, except the process's own standard streams. [open] starts a daemon
 * thread that reads. The first outgoing frame starts another daemon thread, which writes.
 *
 * The transport closes with `protocol` if the bytes are not a frame. It closes with `too-large` if a frame is over the
 * limit, before it allocates memory for the frame. It closes with `lost` if the streams end without a reason. It closes
 * with `failed` if a stream throws an exception other than IOException.
 *
 * After the end, the transport closes each stream once, even if the stream has thrown. An exception of `close` is added
 * to the stream's first exception as suppressed. Without a first exception, an IOException of `close` is ignored, and
 * any other one goes to the thread's uncaught exception handler.
 *
 * Five seconds after the end, a thread may still be blocked in a stream. The transport then closes both streams, which
 * ends the thread even if the other end neither reads nor exits. There are two exceptions. The streams of a child
 * process cannot be closed in that way, and their threads end with the child. The process's own standard streams are
 * not closed in that way either.
 */
public class StreamTransport
internal constructor(
    private val input: InputStream,
    raw: OutputStream,
    private val limits: TransportLimits,
    private val process: Process?,
    /**
     * Whether the transport owns the streams. It is false for the process's own standard streams. The transport then
     * leaves the output open, and closes no stream in which a thread is blocked.
     */
    private val ownsStreams: Boolean,
    private val timers: Clock = SystemClock,
) : ChannelTransport {
    // The buffer joins a header with its frame, and small frames with each other.
    private val output = BufferedOutputStream(raw, PIECE_BYTES)
    private val inputCloser = StreamCloser(input)
    // Closes the stream below the buffer. Closing the buffer would write the rest of a frame after an exception.
    private val outputCloser = StreamCloser(raw)
    private val lock = ReentrantLock()
    private val more = lock.newCondition()
    private val resumed = lock.newCondition()
    /** Held during calls of the sink, because the reader, the writer and the closers all call it. */
    private val sinkLock = Any()
    private var sink: ChannelSink? = null
    private val queue = ArrayDeque<ByteArray>()
    private var queuedBytes = 0L
    private var full = false
    private var paused = false
    private var reading = false
    private var writing = false
    /**
     * The reason, when the transport has ended; null before. After the end, the sink receives no frames and `send`
     * accepts none.
     */
    private var end: CloseReason? = null
    /** The body of the frame that tells the other end the reason; null if no such frame is sent. */
    private var closeFrameBody: ByteArray? = null
    /** Whether the sink's `closed` was called. The sink receives no calls after it. */
    @Volatile private var closedReported = false
    private var failed: Throwable? = null

    override val name: String
        get() = "stdio"

    /** True for the streams of a child process and for the streams to the parent process. */
    override val isTrusted: Boolean
        get() = process != null || !ownsStreams

    override val frameBytesMax: Int
        get() = limits.frameBytesMax

    override fun open(sink: ChannelSink) {
        lock.withLock {
            check(this.sink == null) { "sink must be given once: open() was called before" }
            this.sink = sink
            reading = true
        }
        try {
            READERS.newThread(::read).start()
        } catch (thrown: Throwable) {
            lock.withLock { reading = false }
            finish(CloseReason(CloseCode.FAILED, "no thread could be started to read", emptyMap(), thrown), true)
        }
    }

    override fun send(frame: ByteArray): Boolean {
        limits.check(frame)
        lock.withLock {
            if (end != null || failed != null) return false
            queue.add(frame)
            queuedBytes += weight(frame)
            if (queuedBytes >= limits.windowBytes) full = true
            write()
            return !full
        }
    }

    override fun pause(): Unit = lock.withLock { paused = true }

    override fun resume(): Unit =
        lock.withLock {
            paused = false
            resumed.signalAll()
        }

    override fun close(reason: CloseReason): Unit = finish(reason, sendReason = true)

    // Wakes the writer thread, or starts it. The caller holds the lock. The thread runs until the transport has ended
    // and all frames are written.
    private fun write() {
        if (writing) return more.signal()
        writing = true
        try {
            WRITERS.newThread(::writeAll).start()
        } catch (thrown: Throwable) {
            writing = false
            failed = thrown
            queue.clear()
            val reason = CloseReason(CloseCode.FAILED, "no thread could be started to write", emptyMap(), thrown)
            later(0) {
                finish(reason, false)
                endOnThreads()
            }
        }
    }

    private fun writeAll() {
        try {
            while (true) {
                val frame = lock.withLock { queue.poll() }
                if (frame != null) {
                    output.write(streamHeader(frame.size))
                    output.write(frame)
                    frameWritten(frame)
                    continue
                }
                output.flush()
                if (!waitForMore()) break
            }
            val body = lock.withLock { closeFrameBody }
            if (body != null) {
                output.write(streamHeader(body.size, KIND_CLOSE))
                output.write(body)
            }
            output.flush()
        } catch (broken: Throwable) {
            outputCloser.failed = broken
            lock.withLock {
                failed = broken
                queue.clear()
            }
            val reason =
                if (broken is IOException)
                    CloseReason(CloseCode.LOST, "the other end closed its input", emptyMap(), broken)
                else CloseReason(CloseCode.FAILED, "writing failed: ${broken.javaClass.name}", emptyMap(), broken)
            // The other end may have sent a reason before it closed its input. The reader gets time to read that
            // reason.
            later(END_EVENTS_MS) { finish(reason, false) }
        }
        lock.withLock { writing = false }
        closeStreams()
        reportClosed()
    }

    /** Waits for the next frame. Returns false if the transport has ended and no frame waits. */
    private fun waitForMore(): Boolean =
        lock.withLock {
            while (queue.isEmpty() && end == null) more.awaitUninterruptibly()
            queue.isNotEmpty()
        }

    private fun frameWritten(frame: ByteArray) {
        val drained =
            lock.withLock {
                queuedBytes -= weight(frame)
                val now = full && end == null && queuedBytes * 2 <= limits.windowBytes
                if (now) full = false
                now
            }
        if (drained) synchronized(sinkLock) { if (!closedReported) callSink { it.drained() } }
    }

    // The sink runs code of the application, which may leave the thread interrupted. That would end the next wait of
    // the thread, or close the channel under a stream.
    private inline fun callSink(act: (ChannelSink) -> Unit) {
        guarded { sink?.let(act) }
        Thread.interrupted()
    }

    private fun read() {
        var readerEnded = false
        val frames =
            FrameReader(
                limits.frameBytesMax,
                { frame -> synchronized(sinkLock) { if (lock.withLock { end } == null) callSink { it.frame(frame) } } },
                { reason ->
                    readerEnded = true
                    finish(reason, sendReason = reason.code == CloseCode.PROTOCOL || reason.code == CloseCode.TOO_LARGE)
                },
            )
        reportClosed() // The transport may have ended before `open`.
        var loss: Throwable? = null
        try {
            val piece = ByteArray(PIECE_BYTES)
            while (true) {
                waitWhilePaused()
                val count = input.read(piece)
                if (count < 0) break
                frames.push(piece, count)
            }
        } catch (broken: Throwable) {
            inputCloser.failed = broken
            loss = broken
        }
        if (!readerEnded && lock.withLock { end } == null) readingEnded(loss, frames.inside)
        lock.withLock { reading = false }
        closeStreams()
    }

    /** Ends the transport after the input has ended, or has thrown `loss`. */
    private fun readingEnded(loss: Throwable?, inFrame: Boolean) {
        if (loss != null && loss !is IOException) {
            // For example, there was no memory for a frame. The other end still reads, so it can receive the reason.
            val reason = CloseReason(CloseCode.FAILED, "reading failed: ${loss.javaClass.name}", emptyMap(), loss)
            return finish(reason, true)
        }
        val where = if (inFrame) " in the middle of a frame" else ""
        finish(
            exitReason() ?: CloseReason(CloseCode.LOST, "the other end closed its output$where", emptyMap(), loss),
            false,
        )
    }

    // Waits until [resume]. After the end the sink receives no frames, so a pause has no effect.
    private fun waitWhilePaused(): Unit = lock.withLock { while (paused && end == null) resumed.awaitUninterruptibly() }

    /**
     * Returns the process's exit as a reason. Returns null if there is no process, it does not exit in time, or its
     * exit cannot be read.
     */
    private fun exitReason(): CloseReason? {
        val status =
            try {
                if (process == null || !process.waitFor(END_EVENTS_MS, TimeUnit.MILLISECONDS)) return null
                process.exitValue()
            } catch (_: Throwable) {
                return null // The thread was interrupted, or the process is an object of the application that throws.
            }
        return CloseReason(CloseCode.LOST, "the process exited with status $status", mapOf("exitCode" to status))
    }

    /**
     * Ends the transport. If `sendReason`, sends the reason to the other end after the waiting frames; otherwise drops
     * those frames. The sink's `closed` is called when all frames were written, or after [LEAVE_MS].
     */
    private fun finish(reason: CloseReason, sendReason: Boolean) {
        // Before the end is set, and without the lock: the detail's methods may be code of the application.
        val body = if (sendReason) closeBody(reason) else null
        lock.withLock {
            if (end != null) return
            end = reason
            resumed.signalAll()
            if (body != null) closeFrameBody = body else queue.clear()
            if (failed == null) write()
        }
        later(LEAVE_MS) { endOnThreads(late = true, evenIfBlocked = process == null && ownsStreams) }
        if (lock.withLock { failed } != null) later(0) { endOnThreads() }
    }

    /**
     * Closes the streams that no thread uses, each once, when the transport has ended and nothing is left to write. The
     * input waits for the writer, too: closing one stream of a socket closes both. With `evenIfBlocked`, closes all
     * streams. Blocks as long as a stream's `close` does.
     */
    private fun closeStreams(evenIfBlocked: Boolean = false) {
        val closers =
            lock.withLock {
                if (end == null || (writing && !evenIfBlocked)) return
                listOfNotNull(
                    inputCloser.takeIf { (!reading || evenIfBlocked) && it.take() },
                    outputCloser.takeIf { ownsStreams && it.take() },
                )
            }
        // Each stream has its own thread, because its `close` may block.
        for (closer in closers.dropLast(1)) {
            try {
                CLOSERS.newThread(closer::close).start()
            } catch (_: Throwable) {
                closer.close() // The system starts no thread.
            }
        }
        closers.lastOrNull()?.close()
    }

    /**
     * Calls [reportClosed] and [closeStreams], each on a new thread. All endpoints share the timer thread, so it must
     * not wait for a sink or a stream. If the system starts no thread, this thread reports the end.
     */
    private fun endOnThreads(late: Boolean = false, evenIfBlocked: Boolean = false) {
        if (!closedReported) {
            try {
                CLOSERS.newThread { reportClosed(late) }.start()
            } catch (_: Throwable) {
                reportClosed(late)
            }
        }
        if (inputCloser.isTaken && (outputCloser.isTaken || !ownsStreams)) return
        guarded { CLOSERS.newThread { closeStreams(evenIfBlocked) }.start() }
    }

    private fun reportClosed(late: Boolean = false) {
        val reason = lock.withLock { end.takeIf { late || failed != null || (queue.isEmpty() && !writing) } }
        synchronized(sinkLock) {
            val to = sink
            if (reason == null || closedReported || to == null) return
            closedReported = true
            guarded { to.closed(reason) }
        }
    }

    private fun later(ms: Long, act: () -> Unit) {
        timers.after(ms, act)
    }

    public companion object {
        /**
         * Maximum time to write the remaining frames after the end, in milliseconds. A peer that has stopped reading
         * must not delay the close for ever. The implementations in other languages wait for the same time.
         */
        private const val LEAVE_MS = 5_000L

        /**
         * Maximum wait after a stream has ended or failed, in milliseconds. In this time, the other end's reason and
         * the exit of the process may still arrive. On an idle machine, they arrive within milliseconds.
         */
        private const val END_EVENTS_MS = 1_000L
        private const val PIECE_BYTES = 1 shl 16
        private val READERS = DaemonThreads("clearway-channel-reader-")
        private val WRITERS = DaemonThreads("clearway-channel-writer-")
        private val CLOSERS = DaemonThreads("clearway-channel-closer-")

        /**
         * Returns a transport over any two streams of bytes. The transport closes both streams after its end, each
         * once, even if a stream has thrown an exception.
         */
        @JvmStatic
        @JvmOverloads
        public fun of(
            input: InputStream,
            output: OutputStream,
            limits: TransportLimits = TransportLimits(),
        ): StreamTransport = StreamTransport(input, output, limits, null, true)

        /**
         * Returns the parent's end of a channel to a child process. The channel uses the child's standard input and
         * output. The child must print nothing to its standard output, because bytes that are not a frame close the
         * transport. If the child exits without a reason, the transport closes with `lost`, and the reason's detail
         * contains the `exitCode`. The caller keeps the process: the transport does not kill it and does not read its
         * standard error. Redirect or read the standard error: the child blocks in a print when its pipe is full.
         */
        @JvmStatic
        @JvmOverloads
        public fun ofChild(child: Process, limits: TransportLimits = TransportLimits()): StreamTransport =
            StreamTransport(child.inputStream, child.outputStream, limits, child, true)

        /**
         * Returns the child's end of a channel to the process that started it. The channel uses the child's own
         * standard input and output. `System.out` is redirected to `System.err`, so that printed text does not mix with
         * frames. Code that has kept the earlier `System.out`, such as a logger, still writes between the frames.
         */
        @JvmStatic
        @JvmOverloads
        public fun ofParent(limits: TransportLimits = TransportLimits()): StreamTransport {
            System.setOut(System.err)
            val output = FileOutputStream(FileDescriptor.out)
            return StreamTransport(FileInputStream(FileDescriptor.`in`), output, limits, null, false)
        }
    }
}
