// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.host

import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path
import kotlin.math.ceil

/**
 * How many threads can run at the same time. The JVM counts the processors and looks at its cgroup's limit; this looks
 * at the limit once more, for a JVM that was told not to (`-XX:-UseContainerSupport`).
 */
internal object Processors {
    fun available(
        cgroups: Path = Path.of("/sys/fs/cgroup"),
        seen: Int = Runtime.getRuntime().availableProcessors(),
    ): Int {
        val quota = quota(cgroups) ?: return seen
        // Half a processor more is one thread more: otherwise no thread would use that half.
        return minOf(seen, maxOf(1, ceil(quota).toInt()))
    }

    /** Processors that the cgroup may use, a fraction; null where there is no limit, or no cgroup. */
    fun quota(cgroups: Path): Double? {
        val second = words(cgroups.resolve("cpu.max"))
        if (second.size == 2) return ratio(second[0], second[1])
        val first = cgroups.resolve("cpu")
        val quota = words(first.resolve("cpu.cfs_quota_us")).firstOrNull() ?: return null
        val period = words(first.resolve("cpu.cfs_period_us")).firstOrNull() ?: return null
        return ratio(quota, period)
    }

    /** "max" and -1 stand for no limit. */
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
