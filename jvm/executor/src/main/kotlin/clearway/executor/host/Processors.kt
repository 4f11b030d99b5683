// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.host

import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path
import kotlin.math.ceil

/**
 * Determines how many threads can run at the same time. The JVM counts the processors and applies its cgroup's quota.
 * This object reads the quota itself, because a JVM with `-XX:-UseContainerSupport` ignores it.
 */
internal object Processors {
    fun available(
        cgroups: Path = Path.of("/sys/fs/cgroup"),
        seen: Int = Runtime.getRuntime().availableProcessors(),
    ): Int {
        val quota = quota(cgroups) ?: return seen
        // Rounds up. Otherwise the fraction of a processor would stay unused.
        return minOf(seen, maxOf(1, ceil(quota).toInt()))
    }

    /**
     * Returns how many processors the cgroup may use, possibly a fraction. Returns null without a quota or a cgroup.
     */
    fun quota(cgroups: Path): Double? {
        val second = words(cgroups.resolve("cpu.max"))
        if (second.size == 2) return ratio(second[0], second[1])
        val first = cgroups.resolve("cpu")
        val quota = words(first.resolve("cpu.cfs_quota_us")).firstOrNull() ?: return null
        val period = words(first.resolve("cpu.cfs_period_us")).firstOrNull() ?: return null
        return ratio(quota, period)
    }

    /** Returns the quotient, or null for "max" and -1, which mean no limit. */
    private fun ratio(quota: String, period: String): Double? {
        val up = quota.toDoubleOrNull() ?: return null
        val down = period.toDoubleOrNull() ?: return null
        return if (up > 0 && down > 0) up / down else null
    }

    private fun words(file: Path): List<String> =
        try {
            if (Files.isReadable(file)) Files.readString(file).trim().split(' ') else emptyList()
        } catch (unreadable: IOException) {
            emptyList()
        }
}
