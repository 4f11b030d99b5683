// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.micrometer

import clearway.executor.AdaptiveExecutor
import clearway.executor.ExecutorStatus
import io.micrometer.core.instrument.FunctionCounter
import io.micrometer.core.instrument.Gauge
import io.micrometer.core.instrument.MeterRegistry
import io.micrometer.core.instrument.Tag
import io.micrometer.core.instrument.Tags
import io.micrometer.core.instrument.binder.MeterBinder

/**
 * Metrics of an [AdaptiveExecutor] for Micrometer. The first five have the names that Micrometer uses for the executors
 * of the JDK, so that dashboards for those work:
 * - `executor.active`: tasks that run
 * - `executor.queued`: tasks that wait for a thread
 * - `executor.completed`: tasks that have ended, as a counter
 * - `executor.pool.size`, `executor.pool.max`: CPU workers that exist, and their maximum
 * - `clearway.executor.batches`: batches that run
 * - `clearway.executor.sites`: kinds of work that the executor knows
 *
 * Starts no thread, and costs the executor nothing between two readings. The registry holds the executor weakly: keep
 * the executor in a field.
 *
 * @param name value of the tag `name` of each metric
 * @param tags further tags of each metric
 */
public class AdaptiveExecutorMetrics
@JvmOverloads
constructor(
    private val executor: AdaptiveExecutor,
    private val name: String,
    private val tags: Iterable<Tag> = emptyList(),
) : MeterBinder {
    override fun bindTo(registry: MeterRegistry) {
        val all = Tags.of(tags).and("name", name)
        fun gauge(id: String, unit: String, description: String, value: (ExecutorStatus) -> Number) {
            Gauge.builder(id, executor) { value(it.status()).toDouble() }
                .tags(all)
                .baseUnit(unit)
                .description(description)
                .register(registry)
        }
        gauge("executor.active", "tasks", "Tasks that run") { it.tasksRunning }
        gauge("executor.queued", "tasks", "Tasks that wait for a thread") { it.tasksWaiting }
        FunctionCounter.builder("executor.completed", executor) { it.status().tasksEnded.toDouble() }
            .tags(all)
            .baseUnit("tasks")
            .description("Tasks that have ended")
            .register(registry)
        gauge("executor.pool.size", "threads", "CPU workers that exist") { it.cpuThreads }
        gauge("executor.pool.max", "threads", "Maximum number of CPU workers") { it.cpuThreadsMax }
        gauge("clearway.executor.batches", "batches", "Batches that run") { it.batchesRunning }
        gauge("clearway.executor.sites", "sites", "Kinds of work that the executor knows") { it.sites }
    }
}
