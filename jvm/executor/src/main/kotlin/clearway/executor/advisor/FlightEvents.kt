// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import jdk.jfr.Category
import jdk.jfr.Description
import jdk.jfr.Event
import jdk.jfr.FlightRecorder
import jdk.jfr.Label
import jdk.jfr.Name
import jdk.jfr.StackTrace
import jdk.jfr.Timespan

/** One burst of a watched site. The event is written when the burst ends, so its time stamp is the end. */
@Name("clearway.Burst")
@Label("Burst")
@Category("Clearway")
@Description("Tasks of one site that were in flight together")
@StackTrace(false)
internal class BurstEvent : Event() {
    @JvmField @field:Label("Site") var site: String? = null
    @JvmField @field:Label("Tasks") var tasks: Int = 0
    @JvmField @field:Label("Length") @field:Timespan(Timespan.NANOSECONDS) var length: Long = 0
    @JvmField @field:Label("Run time of all tasks") @field:Timespan(Timespan.NANOSECONDS) var ran: Long = 0
    @JvmField @field:Label("Wait time of all tasks") @field:Timespan(Timespan.NANOSECONDS) var waited: Long = 0
    @JvmField @field:Label("Hand-over time of all tasks") @field:Timespan(Timespan.NANOSECONDS) var handed: Long = 0
    @JvmField @field:Label("Concurrent tasks") var threads: Int = 0
}

/** Writes events to running flight recordings. Does nothing if the runtime has no flight recorder. */
internal object FlightEvents {
    private val isThere = ModuleLayer.boot().findModule("jdk.jfr").isPresent

    fun burst(site: String, burst: Burst) {
        // The first event of a JVM initializes the recorder, which takes up to a second. So this function writes no
        // event before the recorder is initialized.
        if (isThere && burst.done > 0 && Writer.isRecorder) Writer.burst(site, burst)
    }

    /** Loaded only if the JVM has a flight recorder. */
    private object Writer {
        val isRecorder: Boolean
            get() = FlightRecorder.isInitialized()

        fun burst(site: String, burst: Burst) {
            val event = BurstEvent()
            if (!event.shouldCommit()) return
            event.site = site
            event.tasks = burst.done
            event.length = burst.elapsedNs
            event.ran = burst.itemsNs
            event.waited = burst.waitedNs
            event.handed = burst.handOverNs
            event.threads = burst.threads
            event.commit()
        }
    }
}
