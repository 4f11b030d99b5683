// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import clearway.lab.jni.Allocations
import clearway.lab.offload.median

/**
 * The number of objects that all threads of the JVM allocate while a function runs. The JVM reports every allocation,
 * so the number is a count and no estimate. Objects that the compiler has removed are not allocated and not counted.
 */
internal sealed interface AllocationCount {
    class Objects(val median: Double) : AllocationCount

    /** There is no count. `why` says what is missing and how to get it. */
    class Absent(val why: String) : AllocationCount

    companion object {
        /**
         * Asks the JVM for its allocations. Older JVMs draw the first report of a thread when the thread begins, so
         * this must come before the ways make their threads. The first call takes some milliseconds.
         */
        fun prepare() {
            problem
        }

        /** Runs `function` `times` times and returns the median count, or why there is none. Blocks. */
        fun of(times: Int, function: () -> Unit): AllocationCount {
            val problem = problem
            if (problem != null) {
                repeat(times) { function() }
                return Absent(problem)
            }
            return Objects(median(LongArray(times) { objectsOf(function) }))
        }

        private fun objectsOf(function: () -> Unit): Long {
            begin()
            try {
                function()
                return Allocations.counted()
            } finally {
                Allocations.end()
            }
        }

        /**
         * Begins to count. Threads allocate from buffers of their own, and the JVM reports only allocations from
         * buffers that a thread got since counting began. A collection takes all buffers from their threads.
         */
        private fun begin() {
            Allocations.begin()
            System.gc()
            Allocations.reset()
        }

        /** Null if this JVM counts. Tried out once, because some JVMs accept the request and report no allocation. */
        private val problem: String? by lazy { Allocations.problem() ?: tryOut() }

        private fun tryOut(): String? {
            letFirstReportCome()
            val kept = arrayOfNulls<Any>(TRIED)
            val counted = objectsOf { for (at in kept.indices) kept[at] = Any() }
            return if (counted >= TRIED) null
            else "this JVM reported $counted of $TRIED allocations: use a HotSpot JVM, such as OpenJDK"
        }

        /** Allocates until the JVM has reported an allocation of this thread, which began before [prepare]. */
        private fun letFirstReportCome() {
            begin()
            try {
                var left = FIRST_REPORT_BLOCKS
                while (Allocations.counted() == 0L && left-- > 0) block = ByteArray(BLOCK_BYTES)
            } finally {
                Allocations.end()
                block = null
            }
        }

        /** Keeps a block, so that the compiler does not remove its allocation. */
        @Volatile private var block: ByteArray? = null

        private const val TRIED = 1_000
        private const val BLOCK_BYTES = 64 * 1024
        /**
         * Threads draw 512 KB on average, exponentially distributed. 64 MB are enough with a probability of 1 - e^-128.
         */
        private const val FIRST_REPORT_BLOCKS = 1_024
    }
}
