// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.micrometer

import clearway.executor.AdaptiveExecutor
import clearway.executor.SiteOptions
import io.micrometer.core.instrument.Tags
import io.micrometer.core.instrument.simple.SimpleMeterRegistry
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class AdaptiveExecutorMetricsTest {
    private val registry = SimpleMeterRegistry()

    private fun gauge(id: String) = registry.get(id).tag("name", "work").gauge().value().toInt()

    @Test
    fun `the metrics show the tasks that wait, run and have ended`() {
        AdaptiveExecutor(processors = 2).use { executor ->
            AdaptiveExecutorMetrics(executor, "work", Tags.of("app", "shop")).bindTo(registry)
            val ordered = executor.site("ordered", SiteOptions().ordered())
            val began = CountDownLatch(1)
            val go = CountDownLatch(1)
            val tasks =
                List(3) {
                    executor.callAsync(ordered) {
                        began.countDown()
                        go.await()
                    }
                }
            began.await()
            assertEquals(1, gauge("executor.active"))
            assertEquals(2, gauge("executor.queued"))
            assertEquals(2, gauge("executor.pool.max"))
            assertEquals(1, gauge("clearway.executor.sites"))
            assertEquals(0, gauge("clearway.executor.batches"))
            go.countDown()
            CompletableFuture.allOf(*tasks.toTypedArray()).get(1, TimeUnit.MINUTES)
            assertEquals(0, gauge("executor.active"))
            assertEquals(3.0, registry.get("executor.completed").tag("app", "shop").functionCounter().count())
        }
    }
}
