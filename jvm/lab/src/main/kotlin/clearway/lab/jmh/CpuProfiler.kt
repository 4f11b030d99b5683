// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.jmh

import clearway.lab.offload.CpuReading
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
    private var cpu: CpuReading? = null
    private var bytes = 0L

    override fun getDescription(): String = "processor time of the process, and bytes allocated, an operation"

    override fun beforeIteration(benchmark: BenchmarkParams, iteration: IterationParams) {
        cpu = Meters.cpu()
        bytes = Meters.allocatedBytes()
    }

    override fun afterIteration(
        benchmark: BenchmarkParams,
        iteration: IterationParams,
        result: IterationResult,
    ): Collection<Result<*>> {
        // Reading the CPU time allocates, so the bytes are read first.
        val allocated = Meters.allocatedBytes() - bytes
        val cpuNs = Meters.cpu().since(cpu!!)
        val operations = maxOf(1L, result.metadata.allOps).toDouble()
        return listOf(
            ScalarResult(CPU, cpuNs / operations, "ns/op", AggregationPolicy.AVG),
            ScalarResult(BYTES, allocated / operations, "B/op", AggregationPolicy.AVG),
        )
    }

    internal companion object {
        const val CPU = "clearway.cpu"
        const val BYTES = "clearway.bytes"
    }
}
