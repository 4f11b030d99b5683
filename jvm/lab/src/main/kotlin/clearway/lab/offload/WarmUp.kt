// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

/**
 * The result of a warm-up. [isWarm] is false if there were too few windows to decide. [perBatchNs] is the time of a
 * batch in the last window.
 */
internal class WarmUp(val batches: Int, val ms: Double, val isWarm: Boolean, val perBatchNs: Long)

/** Runs batches, one after another, until the time is over. Runs at least one. */
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
 * Whether batches have stopped becoming faster, by windows of time. False if the median of the last quarter is faster
 * than the fastest of the quarter before by more than a twentieth. Windows that differ by chance, as those of a pool on
 * busy cores do, would fail without that twentieth in one case of twelve (of ten windows, the three fastest are among
 * the last five), and fail less often with it.
 */
private fun areWarm(windowsNs: LongArray): Boolean {
    if (windowsNs.size < WINDOWS_MIN) return false
    val quarter = windowsNs.size / 4
    val last = windowsNs.copyOfRange(windowsNs.size - quarter, windowsNs.size)
    val before = windowsNs.copyOfRange(windowsNs.size - 2 * quarter, windowsNs.size - quarter)
    return median(last) >= before.min() * (1 - GAIN_MIN)
}

private const val WINDOWS = 20
/** Three per quarter. */
private const val WINDOWS_MIN = 12
private const val GAIN_MIN = 0.05
