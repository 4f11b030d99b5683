// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.model.Observation
import clearway.executor.model.Placement
import clearway.executor.model.Plan
import jdk.jfr.Category
import jdk.jfr.Description
import jdk.jfr.Event
import jdk.jfr.FlightRecorder
import jdk.jfr.Label
import jdk.jfr.Name
import jdk.jfr.StackTrace
import jdk.jfr.Timespan

/** One batch that the executor learnt from. The event is written when the batch ends, so its time stamp is the end. */
@Name("clearway.Batch")
@Label("Batch")
@Category("Clearway")
@Description("A timed batch of the adaptive executor; trivial ones are timed now and then")
@StackTrace(false)
internal class BatchEvent : Event() {
    @JvmField @field:Label("Site") var site: String? = null
    @JvmField @field:Label("Place") @field:Description("INLINE, CPU or ELASTIC") var place: String? = null
    @JvmField @field:Label("Items that were timed") var items: Int = 0
    @JvmField @field:Label("Length") @field:Timespan(Timespan.NANOSECONDS) var length: Long = 0
    @JvmField @field:Label("Predicted, 0: not") @field:Timespan(Timespan.NANOSECONDS) var predicted: Long = 0
    @JvmField @field:Label("Run time of all items") @field:Timespan(Timespan.NANOSECONDS) var ran: Long = 0
    @JvmField @field:Label("Threads") var threads: Int = 0
    @JvmField @field:Label("Threads slept in items") var slept: Boolean = false
    @JvmField @field:Label("More threads joined than were planned, or it ended early") var grew: Boolean = false
}

/** The executor chose another place for the batches of a site (one kind of work). */
@Name("clearway.Decision")
@Label("Decision")
@Category("Clearway")
@Description("The adaptive executor chose another place for a site's batches")
@StackTrace(false)
internal class DecisionEvent : Event() {
    @JvmField @field:Label("Site") var site: String? = null
    @JvmField @field:Label("From") var from: String? = null
    @JvmField @field:Label("To") var to: String? = null
    @JvmField @field:Label("Items in the batch") var items: Int = 0
    @JvmField @field:Label("Threads that help") var helpers: Int = 0
    @JvmField @field:Label("Predicted, 0: not") @field:Timespan(Timespan.NANOSECONDS) var predicted: Long = 0
}

/** The flight recorder of the JVM, which may be absent. */
internal object Recorder {
    private val isThere = ModuleLayer.boot().findModule("jdk.jfr").isPresent

    /**
     * Whether the recorder is initialized. Without this check, the first event of a JVM would initialize it, which
     * takes up to a second.
     */
    val isInitialized: Boolean
        get() = isThere && Present.isInitialized

    /** Loaded only if the JVM has a flight recorder, as the objects that write events are. */
    private object Present {
        val isInitialized: Boolean
            get() = FlightRecorder.isInitialized()
    }
}

/** Writes events to running flight recordings. Costs two field reads if no recording ever ran. */
internal object BatchEvents {
    fun learnt(site: String, seen: Observation, threads: Int) {
        if (Recorder.isInitialized) Writer.learnt(site, seen, threads)
    }

    fun decided(site: String, from: Placement, plan: Plan, size: Int) {
        if (Recorder.isInitialized) Writer.decided(site, from, plan, size)
    }

    private object Writer {
        fun learnt(site: String, seen: Observation, threads: Int) {
            val event = BatchEvent()
            if (!event.shouldCommit()) return
            event.site = site
            event.place = seen.place.name
            event.items = seen.items
            event.length = seen.elapsedNs
            event.predicted = seen.predictedNs.toLong()
            event.ran = seen.itemsNs
            event.threads = threads
            event.slept = seen.slept
            event.grew = seen.offPlan
            event.commit()
        }

        fun decided(site: String, from: Placement, plan: Plan, size: Int) {
            val event = DecisionEvent()
            if (!event.shouldCommit()) return
            event.site = site
            event.from = from.name
            event.to = plan.place.name
            event.items = size
            event.helpers = plan.helpers
            event.predicted = plan.predictedNs.toLong()
            event.commit()
        }
    }
}
