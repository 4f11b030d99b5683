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
 * Frames over two streams of bytes, such as a pipe, a socket or a process's standard streams, with their sizes in front
 * (spec/stdio.md). Copies each frame that arrives once, and none that leaves. The streams are the transport's from now
 * on. Has a daemon thread that reads, from [open] on, and one that writes.
 *
 * It closes with `protocol` when bytes are no frame, with `too-large` when a frame is over the limit (before it
 * allocates memory for it), with `lost` when the streams end without a reason, and with `failed` when the streams throw
 * anything but an IOException.
 *
 * Five seconds after its end it closes both streams, so that threads blocked there end even if the other end neither
 * reads nor leaves. A child's streams cannot be closed that way: those threads end with the child.
 */
public class StreamTransport
internal constructor(
    private val input: InputStream,
    private val raw: OutputStream,
    private val limits: TransportLimits,
    private val process: Process?,
    /** Whether `output` may be closed: a process does not end its own standard output. */
    private val closesOutput: Boolean,
    private val timers: Clock = SystemClock,
) : ChannelTransport {
    // A header leaves with its frame, and small frames with each other.
    private val output = BufferedOutputStream(raw, PIECE_BYTES)
    private val lock = ReentrantLock()
    private val more = lock.newCondition()
    private val resumed = lock.newCondition()
    /** Held during calls of the sink: reader and writer both call it. */
    private val telling = Any()
    private var sink: ChannelSink? = null
    private val queue = ArrayDeque<ByteArray>()
    private var queuedBytes = 0L
    private var full = false
    private var paused = false
    private var reading = false
    private var writing = false
    /** Set once it is over: nothing arrives or leaves any more but the last word. */
    private var end: CloseReason? = null
    private var lastWord: ByteArray? = null
    private var told = false
    private var failed: Throwable? = null

    override val name: String
        get() = "stdio"

    /** True for a child's streams and for those of the parent. */
    override val isTrusted: Boolean
        get() = process != null || !closesOutput

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

    override fun close(reason: CloseReason): Unit = finish(reason, say = true)

    // In the lock. The thread lives until everything has left.
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
                tellEnd()
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
                    left(frame)
                    continue
                }
                output.flush()
                if (!waitForMore()) break
            }
            val word = lock.withLock { lastWord }
            if (word != null) {
                output.write(streamHeader(word.size, KIND_CLOSE))
                output.write(word)
            }
            output.flush()
            if (closesOutput) output.close()
        } catch (broken: Throwable) {
            lock.withLock {
                failed = broken
                queue.clear()
            }
            val reason =
                if (broken is IOException)
                    CloseReason(CloseCode.LOST, "the other end closed its input", emptyMap(), broken)
                else CloseReason(CloseCode.FAILED, "writing failed: ${broken.javaClass.name}", emptyMap(), broken)
            // The other end may have sent a reason before: it is read first.
            later(PARTS_MS) { finish(reason, false) }
        }
        lock.withLock { writing = false }
        tellEnd()
    }

    /** False when nothing more is to leave. */
    private fun waitForMore(): Boolean =
        lock.withLock {
            while (queue.isEmpty() && end == null) more.await()
            queue.isNotEmpty()
        }

    private fun left(frame: ByteArray) {
        val drained =
            lock.withLock {
                queuedBytes -= weight(frame)
                val now = full && end == null && queuedBytes * 2 <= limits.windowBytes
                if (now) full = false
                now
            }
        if (drained) synchronized(telling) { if (!told) guarded { sink?.drained() } }
    }

    private fun read() {
        var spoke = false
        val frames =
            FrameReader(
                limits.frameBytesMax,
                { frame ->
                    synchronized(telling) { if (lock.withLock { end } == null) guarded { sink?.frame(frame) } }
                },
                { reason ->
                    spoke = true
                    finish(reason, say = reason.code == CloseCode.PROTOCOL || reason.code == CloseCode.TOO_LARGE)
                },
            )
        tellEnd() // it may have ended before the sink came
        var loss: Throwable? = null
        try {
            val piece = ByteArray(PIECE_BYTES)
            while (true) {
                waitWhilePaused()
                val count = input.read(piece)
                if (count < 0) break
                frames.push(piece, count)
            }
            input.close()
        } catch (broken: Throwable) {
            loss = broken
        }
        lock.withLock { reading = false }
        if (spoke || lock.withLock { end } != null) return
        if (loss != null && loss !is IOException) {
            // For example, no memory for a frame: the other end still reads, and gets the reason.
            return finish(
                CloseReason(CloseCode.FAILED, "reading failed: ${loss.javaClass.name}", emptyMap(), loss),
                true,
            )
        }
        val where = if (frames.inside) " in the middle of a frame" else ""
        finish(
            exitReason() ?: CloseReason(CloseCode.LOST, "the other end closed its output$where", emptyMap(), loss),
            false,
        )
    }

    // After the end, no sender is left to hold back.
    private fun waitWhilePaused(): Unit = lock.withLock { while (paused && end == null) resumed.await() }

    /** How the process ended, where there is one and it does end. */
    private fun exitReason(): CloseReason? {
        if (process == null || !process.waitFor(PARTS_MS, TimeUnit.MILLISECONDS)) return null
        val status = process.exitValue()
        return CloseReason(CloseCode.LOST, "the process exited with status $status", mapOf("exitCode" to status))
    }

    /**
     * Ends the transport; with `say`, sends the reason to the other end. The sink is called when all frames have left.
     */
    private fun finish(reason: CloseReason, say: Boolean) {
        lock.withLock {
            if (end != null) return
            end = reason
            resumed.signalAll()
            if (say) lastWord = closeBody(reason) else queue.clear()
            if (failed == null) write()
        }
        later(LEAVE_MS) {
            tellEnd(late = true)
            abandon()
        }
        if (lock.withLock { failed } != null) later(0) { tellEnd() }
    }

    /** Closes the streams under threads that wait there for what will not come. */
    private fun abandon() {
        val stuck = lock.withLock { reading || writing }
        if (!stuck || process != null || !closesOutput) return
        // What closes a stream may wait as well, and the timers' thread is everybody's.
        val closing = {
            guarded { input.close() }
            guarded { raw.close() }
        }
        guarded { CLOSERS.newThread(closing).start() }
    }

    private fun tellEnd(late: Boolean = false) {
        val reason = lock.withLock { end.takeIf { late || failed != null || (queue.isEmpty() && !writing) } }
        synchronized(telling) {
            val to = sink
            if (reason == null || told || to == null) return
            told = true
            guarded { to.closed(reason) }
        }
    }

    private fun later(ms: Long, act: () -> Unit) {
        timers.after(ms, act)
    }

    public companion object {
        /** A reader that has stopped reading must not hold up the end for ever; the other languages wait as long. */
        private const val LEAVE_MS = 5_000L

        /** The parts of an end come one by one, within milliseconds where nothing is loaded. */
        private const val PARTS_MS = 1_000L
        private const val PIECE_BYTES = 1 shl 16
        private val READERS = DaemonThreads("clearway-channel-reader-")
        private val WRITERS = DaemonThreads("clearway-channel-writer-")
        private val CLOSERS = DaemonThreads("clearway-channel-closer-")

        /** A transport over any two streams of bytes; it closes them at its end. */
        @JvmStatic
        @JvmOverloads
        public fun of(
            input: InputStream,
            output: OutputStream,
            limits: TransportLimits = TransportLimits(),
        ): StreamTransport = StreamTransport(input, output, limits, null, true)

        /**
         * The parent's end of a channel to a child process, over the child's standard input and output; what the child
         * prints there is no frame, and closes it. The child's death closes it with `lost`, and an `exitCode` in the
         * detail. The process stays the caller's: it is not killed, and its standard error is the caller's to read.
         */
        @JvmStatic
        @JvmOverloads
        public fun ofChild(child: Process, limits: TransportLimits = TransportLimits()): StreamTransport =
            StreamTransport(child.inputStream, child.outputStream, limits, child, true)

        /**
         * The child's end of a channel to the process that started it, over its own standard input and output. What the
         * program prints to `System.out` goes to `System.err` from now on, so that it stands between no frames.
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
