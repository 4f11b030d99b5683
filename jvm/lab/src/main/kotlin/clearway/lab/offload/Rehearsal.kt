// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

/**
 * Rehearses the strategies: runs each of them for a short time before the measurements of a JVM. The first batch of a
 * new pool then measures the pool, not class loading and compilation. All strategies run before the first one is
 * measured, so each is compiled in a JVM that has run the same rivals. One thread uses it.
 */
internal object Rehearsal {
    private var done = false
    private var sharedUsedNs: Long? = null

    /** Runs `actions` with each strategy. The first call blocks for a second or more; later calls return at once. */
    fun of(seeds: IntArray, vararg actions: Action) {
        if (done) return
        done = true
        val into = blackhole()
        // Runs the strategies that share the coroutines' threads first. Those threads are then idle while the other
        // strategies run, so `letSharedThreadsEnd` waits less.
        for (kind in Strategies.all.sortedBy { !sharesThreads(it.name) }.filter { it.unavailable == null }) {
            kind.open().use { strategy ->
                for (action in actions) {
                    val batches = Batches(strategy, action, seeds)
                    val begin = System.nanoTime()
                    do into.consume(batches.run()) while (System.nanoTime() - begin < EACH_NS / actions.size)
                }
            }
            used(kind.name)
        }
    }

    fun used(strategy: String) {
        if (sharesThreads(strategy)) sharedUsedNs = System.nanoTime()
    }

    /**
     * Waits until the threads of Dispatchers.Default and IO have ended. A JVM cannot create these dispatchers again,
     * but their threads end after a while. Blocks.
     */
    fun letSharedThreadsEnd(strategy: String) {
        val last = sharedUsedNs
        if (!sharesThreads(strategy) || last == null) return
        val leftMs = KEEP_ALIVE_MS - (System.nanoTime() - last) / 1_000_000
        if (leftMs > 0) Thread.sleep(leftMs)
    }

    private fun sharesThreads(strategy: String): Boolean =
        strategy in
            setOf(
                "coroutines-launch-default",
                "coroutines-launch-default-limited",
                "flow-flatmapmerge-default",
                "flow-flatmapmerge-cores",
                "coroutines-launch-io",
                "flow-flatmapmerge-io",
            )

    /**
     * Time in ns for each strategy. It is enough to compile a batch of arithmetic. For eighteen strategies, these times
     * add up to half a second. A rehearsal takes longer, because it also opens and closes each strategy, and each
     * strategy finishes its last batch.
     */
    private const val EACH_NS = 30_000_000L

    /**
     * Time in ms after which idle coroutine threads have ended. The JVMs are started with a keep-alive of 1 s (default:
     * 60 s); this adds a margin.
     */
    private const val KEEP_ALIVE_MS = 1_150L
}
