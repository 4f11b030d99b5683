// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

/**
 * How batches were warmed up. Not [isWarm] where there were too few to tell. [perBatchNs] is what one took at the end.
 */
internal class WarmUp(val batches: Int, val ms: Double, val isWarm: Boolean, val perBatchNs: Long)

/** Batches, one after the other, until the time is over; one at least. */
internal fun warmUp(warmMs: Double, nowNs: () -> Long = System::nanoTime, batch: () -> Unit): WarmUp {
    val windowNs = (warmMs * 1e6 / WINDOWS).toLong()
    val perBatchNs = ArrayList<Long>()
    val beginNs = nowNs()
    var fromNs = beginNs
    var ran = 0
    do {
        val before = ran
        var ns: Long
        do {
            batch()
            ran++
            ns = nowNs() - fromNs
        } while (ns < windowNs)
        fromNs += ns
        perBatchNs += ns / (ran - before)
    } while (fromNs - beginNs < warmMs * 1e6)
    return WarmUp(ran, (fromNs - beginNs) / 1e6, areWarm(perBatchNs.toLongArray()), perBatchNs.last())
}

/**
 * Whether batches got no quicker any more, by windows of time: not where the middle one of the last quarter is quicker
 * than the quickest of the quarter before. Of windows that differ by chance, as those of a pool on busy cores do, that
 * holds in one case of twelve (of ten, the three quickest are among the last five), and with a twentieth between them
 * in fewer.
 */
private fun areWarm(windowsNs: LongArray): Boolean {
    if (windowsNs.size < WINDOWS_MIN) return false
    val quarter = windowsNs.size / 4
    val last = windowsNs.copyOfRange(windowsNs.size - quarter, windowsNs.size)
    val before = windowsNs.copyOfRange(windowsNs.size - 2 * quarter, windowsNs.size - quarter)
    return median(last) >= before.min() * (1 - GAIN_MIN)
}

private const val WINDOWS = 20
/** Three to a quarter. */
private const val WINDOWS_MIN = 12
private const val GAIN_MIN = 0.05
