// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/**
 * Estimates how many processors the process uses, from its CPU time. Linux updates that clock in steps of 10 ms: two
 * readings 1 ms apart would show either no progress or ten busy processors. So one estimate spans a window of several
 * steps. The estimate is 0 before the first window has passed. Reads no clock itself.
 */
internal class Load {
    private var fromCpuNs = -1L
    private var fromNs = 0L

    /** Number of processors that the process used over the last complete window. 0 if unknown. */
    var used: Double = 0.0
        private set

    /**
     * Adds a reading: the process had used `cpuNs` of CPU time at `nowNs`. `cpuNs` is -1 if the host does not count it.
     */
    fun sample(cpuNs: Long, nowNs: Long) {
        val ns = nowNs - fromNs
        val known = cpuNs >= 0 && fromCpuNs >= 0
        if (known && ns in 0 until WINDOW_NS) return
        // After a long time without readings, the average says little about the present.
        used = if (known && ns in WINDOW_NS..STALE_NS) (cpuNs - fromCpuNs).toDouble() / ns else 0.0
        fromCpuNs = cpuNs
        fromNs = nowNs
    }

    companion object {
        /**
         * Length of the window, in ns: five steps of Linux's clock. The error is at most a fifth of a processor, which
         * rounding removes.
         */
        const val WINDOW_NS: Long = 50_000_000
        private const val STALE_NS = 4 * WINDOW_NS
    }
}
