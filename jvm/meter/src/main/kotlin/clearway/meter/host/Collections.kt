// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import com.sun.management.GarbageCollectionNotificationInfo
import java.lang.management.ManagementFactory
import javax.management.ListenerNotFoundException
import javax.management.NotificationEmitter
import javax.management.NotificationListener
import javax.management.openmbean.CompositeData

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
