// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.record.frames
import com.sun.management.GarbageCollectionNotificationInfo
import java.io.IOException
import java.lang.management.ManagementFactory
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.Path
import java.nio.file.StandardOpenOption.READ
import javax.management.ListenerNotFoundException
import javax.management.NotificationEmitter
import javax.management.NotificationListener
import javax.management.openmbean.CompositeData

/** The reason that a report gives if a security manager forbids reading stacks. */
internal const val STACKS_FORBIDDEN: String = "the security manager forbids it"

/** Observes other threads. */
internal interface ThreadObserver {
    /**
     * Returns the frames of the thread's stack as text, innermost first. [clearway.meter.record.frames] omits some
     * frames.
     */
    fun stack(thread: Thread): List<String>

    /** Returns the reason why the host forbids [stack], or null if the host allows it. Stops no thread. */
    fun whyNoStacks(): String? = null

    /** Returns the thread's CPU time in ms, or NaN if the host does not count it. */
    fun cpuMs(thread: Thread): Double

    /** Returns the calling thread's CPU time in ms, or NaN if the host does not count it. */
    fun ownCpuMs(): Double = Double.NaN

    /**
     * Returns a counter of the time that the calling thread waits for a core, or null if the host does not count it.
     * Another thread may read the counter.
     */
    fun waiting(): Waiting?
}

/** Counts how long one thread was ready without a core. */
internal interface Waiting : AutoCloseable {
    /** Returns how long, in ms, the thread waited since the last call. Returns 0 if the host cannot read it. */
    fun takeMs(): Double
}

/** Observes threads through the JVM's own interfaces. */
internal object JvmThreadObserver : ThreadObserver {
    private val clock: ProcessorClock? = optional { ProcessorClock() }

    /**
     * Stops the thread for about 50 us at its next safepoint, and waits for that safepoint. Before JDK 19, the JVM
     * stops all threads until each has reached its safepoint. This took 1.9 and 2.0 ms on two busy cores.
     */
    override fun stack(thread: Thread): List<String> {
        val isRunning = thread.state == Thread.State.RUNNABLE
        return frames(thread.stackTrace, isRunning)
    }

    override fun whyNoStacks(): String? =
        try {
            Thread().stackTrace // A thread that never started: the call checks the permission and stops no thread.
            null
        } catch (_: SecurityException) {
            STACKS_FORBIDDEN
        }

    /** Makes a system call of about 1 us. The JVM counts no CPU time for a virtual thread. */
    override fun cpuMs(thread: Thread): Double {
        val ns = optional { clock?.ns(thread) } ?: -1
        return if (ns < 0) Double.NaN else ns / 1e6
    }

    override fun ownCpuMs(): Double = cpuMs(Thread.currentThread())

    override fun waiting(): Waiting? = if (cpuMs(Thread.currentThread()).isNaN()) null else RunQueue.ofThisThread()
}

/**
 * Times of the watched thread and of the monitor's thread, in ms, as the system counts them. They are how long the
 * watched thread ran on a core, and how long each of the two was ready without a core. The watched thread calls
 * [opened]; the monitor's thread calls everything else.
 */
internal class ThreadTimes(private val observer: ThreadObserver) : AutoCloseable {
    @Volatile private var watched: Waiting? = null
    private var own: Waiting? = null
    private var isStarted = false
    private var isClosed = false
    private var cpuMs = Double.NaN

    /** Time that the watched thread ran between the last two readings. NaN if the host does not count it. */
    var newlyRanMs: Double = Double.NaN
        private set

    /**
     * Time that the watched thread was ready without a core between the last two readings. 0 if the host does not count
     * it.
     */
    var newlyWaitedMs: Double = 0.0
        private set

    /** Time that the watched thread ran since [restart]. NaN if the host does not count it. */
    var ranMs: Double = 0.0
        private set

    /** Time that the watched thread was ready without a core since [restart]. */
    var waitedMs: Double = 0.0
        private set

    /** Time that the watched thread ran or was ready between the last two readings, as far as the host counts it. */
    val busyMs: Double
        get() = newlyWaitedMs + if (newlyRanMs.isNaN()) 0.0 else newlyRanMs

    /**
     * Opens the counter of the watched thread. Called on that thread. After [close], which may come first if the thread
     * is blocked, opens nothing.
     */
    fun opened() {
        synchronized(this) { if (!isClosed) watched = observer.waiting() }
    }

    /**
     * Reads the watched thread's clocks, with two system calls. `thread` is null if the thread is unknown or not the
     * only one.
     */
    fun readClocks(thread: Thread?) {
        val before = cpuMs
        cpuMs = thread?.let(observer::cpuMs) ?: Double.NaN
        newlyRanMs = cpuMs - before
        newlyWaitedMs = if (thread == null) 0.0 else watched?.takeMs() ?: 0.0
        ranMs += newlyRanMs
        waitedMs += newlyWaitedMs
    }

    /** Sets [ranMs] and [waitedMs] to 0. */
    fun restart() {
        ranMs = 0.0
        waitedMs = 0.0
    }

    /**
     * Returns how long, in ms, the monitor's thread was ready without a core since the last call. Called on that
     * thread. Returns 0 if the host does not count it.
     */
    fun ownWaitedMs(): Double {
        if (!isStarted) own = observer.waiting()
        isStarted = true
        return own?.takeMs() ?: 0.0
    }

    override fun close() {
        synchronized(this) { isClosed = true }
        watched?.close()
        own?.close()
    }
}

/**
 * Reads the CPU time of threads from the JVM's management bean. This is a separate class, because not every JVM has the
 * module `java.management`.
 */
internal class ProcessorClock {
    private val threads =
        ManagementFactory.getThreadMXBean().takeIf { it.isThreadCpuTimeSupported && it.isThreadCpuTimeEnabled }

    /** Returns the thread's CPU time in ns, or -1 if the JVM does not count it. */
    fun ns(thread: Thread): Long = threads?.getThreadCpuTime(idOf(thread)) ?: -1

    // JDK 19 replaced this property by `threadId()`, which JDK 17 does not have.
    @Suppress("DEPRECATION") private fun idOf(thread: Thread): Long = thread.id
}

/**
 * Counts how long one thread was ready without a core. Linux keeps that time in the thread's file `schedstat`: the time
 * run in ns, the time waited in ns, and the number of turns. The counted thread opens the file, and one other thread
 * reads it. A reading is a system call of about 2 us.
 */
internal class RunQueue private constructor(private val file: FileChannel) : Waiting {
    private val bytes = ByteBuffer.allocateDirect(96)
    private var waitedMs = 0.0

    init {
        takeMs()
    }

    override fun takeMs(): Double {
        val now = read()
        if (now.isNaN()) return 0.0
        val since = now - waitedMs
        waitedMs = now
        return since
    }

    private fun read(): Double {
        bytes.clear()
        try {
            if (file.read(bytes, 0) <= 0) return Double.NaN
        } catch (_: IOException) {
            return Double.NaN // The thread has ended.
        }
        bytes.flip()
        return waitedNs(bytes) / 1e6
    }

    override fun close(): Unit = file.close()

    companion object {
        /** Opens the counter of the calling thread. Returns null if the host does not count it. */
        fun ofThisThread(): RunQueue? =
            try {
                RunQueue(FileChannel.open(Path.of("/proc/thread-self/schedstat"), READ))
            } catch (_: IOException) {
                null
            } catch (_: SecurityException) {
                null
            }

        /** Returns the second number of a `schedstat` line: the time waited, in ns. */
        fun waitedNs(line: ByteBuffer): Double {
            while (line.hasRemaining() && line.get() != SPACE) Unit
            var ns = 0.0
            while (line.hasRemaining()) {
                val digit = line.get() - ZERO
                if (digit !in 0..9) break
                ns = ns * 10 + digit
            }
            return ns
        }

        private const val SPACE = ' '.code.toByte()
        private const val ZERO = '0'.code.toByte()
    }
}

/**
 * Reports the garbage collector's pauses, from the JVM's management beans. The times have a precision of 1 ms, and
 * arrive some ms after the end of the pause. A thread of the JVM calls `paused`.
 */
internal class Collections(private val paused: (startMs: Double, endMs: Double) -> Unit) : AutoCloseable {
    private val zeroMs = jvmStartMs()
    private val emitters =
        ManagementFactory.getGarbageCollectorMXBeans()
            // Beans with this suffix belong to concurrent collectors. They count whole cycles, in which the app
            // continues to run.
            .filter { !it.name.endsWith("Cycles") }
            // Throws a LinkageError without the module jdk.management. The JVM then sends no notifications.
            .filterIsInstance<com.sun.management.GarbageCollectorMXBean>()
            .filterIsInstance<NotificationEmitter>()
    private val listener = NotificationListener { notification, _ ->
        if (notification.type == GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION) {
            val info = GarbageCollectionNotificationInfo.from(notification.userData as CompositeData).gcInfo
            paused(zeroMs + info.startTime, zeroMs + info.endTime)
        }
    }

    /** Why collections cannot be observed. Null if they can. */
    val missing: String? = if (emitters.isEmpty()) "this JVM does not tell its collections" else null

    init {
        for (emitter in emitters) emitter.addNotificationListener(listener, null, null)
    }

    override fun close() {
        for (emitter in emitters) {
            try {
                emitter.removeNotificationListener(listener)
            } catch (_: ListenerNotFoundException) {
                // Another call of `close` has removed it.
            }
        }
    }
}

/**
 * Returns the time of the JVM's start on the meter's clock, in ms. The collector's times count from that start. The
 * start is the meter's time minus the uptime. The JVM rounds its uptime down to whole ms, so the smallest of several
 * such differences is the most precise. Spins for up to 1 ms.
 */
private fun jvmStartMs(): Double {
    val runtime = ManagementFactory.getRuntimeMXBean()
    val first = runtime.uptime
    var smallest = Double.POSITIVE_INFINITY
    do {
        val uptime = runtime.uptime
        smallest = minOf(smallest, MeterClock.nowMs() - uptime)
    } while (uptime == first)
    return smallest
}
