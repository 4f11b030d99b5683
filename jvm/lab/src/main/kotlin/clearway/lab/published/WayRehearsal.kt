// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

/**
 * Runs every way for a short time before the first measurement of a JVM. Each way is then measured in a JVM whose code
 * has been compiled for the same rivals. One thread uses it.
 */
internal object WayRehearsal {
    private var done = false

    /** The first call blocks for a second or more; later calls return at once. */
    fun of(work: String, actions: Int) {
        if (done) return
        done = true
        AllocationCount.prepare()
        // Work that waits is rehearsed with the works that only compute, because a rehearsal should be short.
        val works = if (work == "arithmetic" || work == "lists") listOf(work) else listOf("arithmetic", "lists")
        for (kind in Ways.all.filter { it.unavailable == null }) {
            kind.open().use { way ->
                for (each in works) {
                    val run = ListRun(way, PublishedWorks.named(each), actions)
                    val begin = System.nanoTime()
                    do run.run() while (System.nanoTime() - begin < EACH_NS / works.size)
                }
            }
        }
    }

    /** Time in ns for each way. It is enough to compile a list of arithmetic. */
    private const val EACH_NS = 30_000_000L
}
