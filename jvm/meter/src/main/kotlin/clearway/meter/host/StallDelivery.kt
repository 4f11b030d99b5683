// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.Stall
import java.time.Instant
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock
import java.util.function.Consumer
import jdk.jfr.Category
import jdk.jfr.Description
import jdk.jfr.Event
import jdk.jfr.FlightRecorder
import jdk.jfr.Label
import jdk.jfr.Name
import jdk.jfr.StackTrace
import jdk.jfr.Timespan
import jdk.jfr.Timestamp
import kotlin.concurrent.withLock

/**
 * Passes the stalls of one watch to the app's `onStall`, one at a time and in order, on a daemon thread. The meter's
 * own thread must not run code of the app, because it observes nothing meanwhile. A ThreadPoolExecutor would not do: a
 * security manager may forbid to end it.
 *
 * @param closeMs maximum time in ms for which [close] waits for `onStall`
 */
internal class StallDelivery(private val onStall: Consumer<in Stall>, private val closeMs: Long = CLOSE_MS) :
    AutoCloseable {
    private val lock = ReentrantLock()
    private val changed = lock.newCondition()
    private val waiting = ArrayDeque<Stall>()
    /** The thread that calls `onStall`. Null before the first stall, and after the thread has ended. */
    private var thread: Thread? = null
    private var closed = false

    /**
     * Adds a stall. Does not wait for `onStall`. If [WAITING_MAX] stalls wait, drops the oldest of them. After [close],
     * drops the new stall. Throws OutOfMemoryError if the system cannot start a thread; the stall then waits for the
     * next call.
     */
    fun add(stall: Stall) {
        lock.withLock {
            if (closed) return
            if (waiting.size == WAITING_MAX) waiting.removeFirst()
            waiting += stall
            changed.signalAll()
            if (thread != null) return
            val started = ownThread("clearway-meter-onStall", ::run)
            started.start()
            thread = started
        }
    }

    private fun run() {
        while (true) {
            val stall = take() ?: return
            guarded { onStall.accept(stall) }
            Thread.interrupted() // An interrupt of `onStall` must not end the next wait.
        }
    }

    /** Waits for the next stall. Returns null if the thread must end, because it was idle for long or by [close]. */
    private fun take(): Stall? =
        lock.withLock {
            var leftNs = TimeUnit.SECONDS.toNanos(KEPT_SECONDS)
            while (waiting.isEmpty() && !closed && leftNs > 0) {
                try {
                    leftNs = changed.awaitNanos(leftNs)
                } catch (_: InterruptedException) {
                    // Only `close` interrupts this thread, and it sets `closed` first.
                }
            }
            waiting.removeFirstOrNull()
                ?: null.also {
                    thread = null
                    changed.signalAll()
                }
        }

    /**
     * Waits until `onStall` has returned for all stalls, at most [closeMs]. If it has not returned by then, drops the
     * waiting stalls and interrupts `onStall`. On the thread of `onStall`, does not wait. A second call is harmless.
     */
    override fun close() {
        var interrupted = false
        lock.withLock {
            closed = true
            changed.signalAll()
            if (Thread.currentThread() === thread) return
            val untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(closeMs)
            while (thread != null) {
                val leftNs = untilNs - System.nanoTime()
                if (leftNs <= 0) break
                try {
                    changed.awaitNanos(leftNs)
                } catch (_: InterruptedException) {
                    interrupted = true
                }
            }
            waiting.clear()
            thread?.interrupt()
        }
        if (interrupted) Thread.currentThread().interrupt()
    }

    internal companion object {
        /** Maximum number of stalls that wait for `onStall`. They take at most about 0.3 MB. */
        const val WAITING_MAX = 1024
        /** Default of `closeMs`: long for a listener, short for a person who waits for a program's end. */
        private const val CLOSE_MS = 1_000L
        /** Time in s after which the idle thread ends. A new thread costs about 0.1 ms. */
        private const val KEPT_SECONDS = 10L
    }
}

/**
 * One explained stall in a flight recording. The watcher writes the event after the stall, so its time stamp is the
 * time of writing. `began` and `length` hold the stall's time.
 */
@Name("clearway.Stall")
@Label("Stall")
@Category("Clearway")
@Description("An interval in which an event thread could not answer")
@StackTrace(false)
internal class StallEvent : Event() {
    @JvmField @field:Label("Began") @field:Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH) var began: Long = 0
    @JvmField @field:Label("Length") @field:Timespan(Timespan.NANOSECONDS) var length: Long = 0
    @JvmField @field:Label("Error") @field:Timespan(Timespan.NANOSECONDS) var error: Long = 0
    @JvmField @field:Label("Thread") var thread: Thread? = null
    @JvmField @field:Label("Watch") var watch: String? = null
    @JvmField @field:Label("Cause") var cause: String? = null
    @JvmField @field:Label("Because") var because: String? = null
    @JvmField @field:Label("Collection") @field:Timespan(Timespan.NANOSECONDS) var collection: Long = 0
    @JvmField @field:Label("Machine") @field:Timespan(Timespan.NANOSECONDS) var machine: Long = 0
    @JvmField @field:Label("Stack") @field:Description("Seen most often, innermost first") var stack: String? = null
    @JvmField @field:Label("Marks") var marks: String? = null
}

/** Writes stalls to running flight recordings. Does nothing if the runtime has no flight recorder. */
internal object FlightRecording {
    private val isThere = ModuleLayer.boot().findModule("jdk.jfr").isPresent

    fun write(stall: Stall, runStarted: Instant, thread: Thread?, label: String?) {
        // The first event of a JVM initializes the recorder, which takes up to a second. So this function writes no
        // event before the recorder is initialized.
        if (isThere && Writer.isRecorder) Writer.write(stall, runStarted, thread, label)
    }

    /** Loaded only if the JVM has a flight recorder. */
    private object Writer {
        val isRecorder: Boolean
            get() = FlightRecorder.isInitialized()

        fun write(stall: Stall, runStarted: Instant, thread: Thread?, label: String?) {
            val event = StallEvent()
            if (!event.shouldCommit()) return
            event.began = runStarted.toEpochMilli() + Math.round(stall.startMs)
            event.length = ns(stall.lengthMs)
            event.error = ns(stall.errorMs)
            event.thread = thread
            event.watch = label
            event.cause = stall.cause.word
            event.because = stall.because
            event.collection = ns(stall.gcMs)
            event.machine = ns(stall.machineMs)
            event.stack = stall.stacks.firstOrNull()?.frames?.joinToString("\n")
            event.marks = stall.marks.joinToString("\n") { it.label }
            event.commit()
        }
    }

    private fun ns(ms: Double) = Math.round(ms * 1e6)
}

/**
 * Returns the result of `ask`, or null if the JVM does not have the feature or forbids it. The module `java.management`
 * may be missing, or a security manager may forbid access.
 */
internal inline fun <T> optional(ask: () -> T): T? =
    try {
        ask()
    } catch (_: LinkageError) {
        null
    } catch (_: SecurityException) {
        null
    }

/**
 * Runs `act`, which calls code outside the meter, such as the app's `onStall`. Exceptions of `act` go to the thread's
 * uncaught-exception handler.
 */
internal inline fun guarded(act: () -> Unit) {
    try {
        act()
    } catch (thrown: Throwable) {
        uncaught(thrown)
    }
}

/** Passes an exception to the thread's uncaught-exception handler. Never throws. */
internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler is foreign code, too.
    }
}
