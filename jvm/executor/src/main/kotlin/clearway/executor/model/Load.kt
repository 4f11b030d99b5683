// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/**
 * How many processors the process used lately, from its clock of processor time. Linux moves that clock in steps of 10
 * ms: between two looks 1 ms apart it stands still or shows ten processors. So it is read over a window of several
 * steps, and until the first has passed nothing is known. A pure value.
 */
internal class Load {
    private var fromCpuNs = -1L
    private var fromNs = 0L

    /** Processors used over the last whole window; 0 where nothing is known. */
    var used: Double = 0.0
        private set

    /** The process had used `cpuNs` of CPU time (-1: unknown) at `nowNs`. */
    fun look(cpuNs: Long, nowNs: Long) {
        val ns = nowNs - fromNs
        val known = cpuNs >= 0 && fromCpuNs >= 0
        if (known && ns in 0 until WINDOW_NS) return
        // The last sample is old: the CPU time used since then says little about the present.
        used = if (known && ns in WINDOW_NS..STALE_NS) (cpuNs - fromCpuNs).toDouble() / ns else 0.0
        fromCpuNs = cpuNs
        fromNs = nowNs
    }

    companion object {
        /** Five steps of Linux's clock: an error of at most a fifth of a processor, which rounding takes away. */
        const val WINDOW_NS: Long = 50_000_000
        private const val STALE_NS = 4 * WINDOW_NS
    }
}
