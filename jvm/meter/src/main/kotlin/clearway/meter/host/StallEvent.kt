// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.Stall
import java.time.Instant
import jdk.jfr.Category
import jdk.jfr.Description
import jdk.jfr.Event
import jdk.jfr.FlightRecorder
import jdk.jfr.Label
import jdk.jfr.Name
import jdk.jfr.StackTrace
import jdk.jfr.Timespan
import jdk.jfr.Timestamp

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
