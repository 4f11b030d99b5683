// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.jmh

import clearway.lab.offload.Meters
import org.openjdk.jmh.infra.BenchmarkParams
import org.openjdk.jmh.infra.IterationParams
import org.openjdk.jmh.profile.InternalProfiler
import org.openjdk.jmh.results.AggregationPolicy
import org.openjdk.jmh.results.IterationResult
import org.openjdk.jmh.results.Result
import org.openjdk.jmh.results.ScalarResult

/** Reports CPU time and allocations per operation, in JMH's forks. JMH instantiates it by its class name. */
public class CpuProfiler : InternalProfiler {
    private var cpu = 0L
    private var bytes = 0L

    override fun getDescription(): String = "processor time of the process, and bytes allocated, an operation"

    override fun beforeIteration(benchmark: BenchmarkParams, iteration: IterationParams) {
        cpu = Meters.cpuNs()
        bytes = Meters.allocatedBytes()
    }

    override fun afterIteration(
        benchmark: BenchmarkParams,
        iteration: IterationParams,
        result: IterationResult,
    ): Collection<Result<*>> {
        val operations = maxOf(1L, result.metadata.allOps).toDouble()
        return listOf(
            ScalarResult(CPU, (Meters.cpuNs() - cpu) / operations, "ns/op", AggregationPolicy.AVG),
            ScalarResult(BYTES, (Meters.allocatedBytes() - bytes) / operations, "B/op", AggregationPolicy.AVG),
        )
    }

    internal companion object {
        const val CPU = "clearway.cpu"
        const val BYTES = "clearway.bytes"
    }
}
