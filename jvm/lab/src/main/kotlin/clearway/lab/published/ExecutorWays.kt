// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import clearway.lab.offload.MANY
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit

/** The number of processors of this JVM: the "cores" of the published text. */
internal val PROCESSORS: Int = Runtime.getRuntime().availableProcessors()

/** The published ways of the JDK's executors: `submit` each action, `get` each future. */
internal val executorWays: List<WayKind> =
    listOf(
        published("fixed-pool") { Submitting(Executors.newFixedThreadPool(PROCESSORS)) },
        published("work-stealing") { Submitting(Executors.newWorkStealingPool(PROCESSORS)) },
        published("fixed-100") { Submitting(Executors.newFixedThreadPool(MANY)) },
        published("work-stealing-100") { Submitting(Executors.newWorkStealingPool(MANY)) },
    )

/** Owns the executor. `close` waits up to ten seconds for its threads. */
internal class Submitting(internal val executor: ExecutorService) : Way {
    override fun run(list: List<Int>, action: (Int) -> Any) {
        list.map { executor.submit { action(it) } }.forEach { it.get() }
    }

    override fun close() {
        executor.shutdown()
        executor.awaitTermination(10, TimeUnit.SECONDS)
    }
}
