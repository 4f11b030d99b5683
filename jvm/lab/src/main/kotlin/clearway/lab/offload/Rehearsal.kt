// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

/**
 * Makes a JVM one in which every strategy has run before, so that the first batch of a new pool tells of the pool, not
 * of loading and compiling classes. Done once a JVM, for all strategies, as soon as the first is to be measured: so
 * none is compiled in a JVM that has seen fewer of its rivals. From one thread.
 */
internal object Rehearsal {
    private var done = false
    private var sharedUsedNs: Long? = null

    /** Each strategy runs `actions` in turn. Blocks, a second and more, the first time; returns at once after that. */
    fun of(seeds: IntArray, vararg actions: Action) {
        if (done) return
        done = true
        val into = blackhole()
        // Those that share the coroutines' threads come first: these threads have ended when the others are through.
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
     * Dispatchers.Default and IO cannot be opened anew in a JVM; their threads end by themselves after a while. Blocks.
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
                "coroutines-default",
                "coroutines-default-limited",
                "flow-default",
                "flow-limited",
                "coroutines-io",
                "flow-io",
            )

    /** Enough for a batch of arithmetic to be compiled; eighteen of them take half a second. */
    private const val EACH_NS = 30_000_000L

    /** JVMs are started with a keep-alive of 1 s for the coroutines' threads (their default is 60), and a little. */
    private const val KEEP_ALIVE_MS = 1_150L
}
