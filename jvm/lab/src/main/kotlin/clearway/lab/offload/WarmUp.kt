// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

/**
 * The result of a warm-up. [isWarm] is false if batches were still becoming faster, or if there were too few windows to
 * decide. [perBatchNs] is the mean time of a batch in the last window.
 */
internal class WarmUp(val batches: Int, val ms: Double, val isWarm: Boolean, val perBatchNs: Long)

/** Runs batches, one after another, until the time is over. Runs at least one batch. */
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
 * Whether batches have stopped becoming faster. Each element is the mean time of a batch in one window of time. Returns
 * false if the median of the last quarter of windows is more than 5 % faster than the fastest window of the quarter
 * before.
 *
 * Windows of a pool on busy cores differ by chance. Without the 5 %, such windows would fail in one case of twelve: of
 * ten windows, the three fastest are among the last five. With the 5 %, they fail less often.
 */
private fun areWarm(windowsNs: LongArray): Boolean {
    if (windowsNs.size < WINDOWS_MIN) return false
    val quarter = windowsNs.size / 4
    val last = windowsNs.copyOfRange(windowsNs.size - quarter, windowsNs.size)
    val before = windowsNs.copyOfRange(windowsNs.size - 2 * quarter, windowsNs.size - quarter)
    return median(last) >= before.min() * (1 - GAIN_MIN)
}

private const val WINDOWS = 20
/** Minimum number of windows: three per quarter. */
private const val WINDOWS_MIN = 12
private const val GAIN_MIN = 0.05
