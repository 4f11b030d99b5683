// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import clearway.executor.AdaptiveExecutor

/** Runs batches on Clearway's executor, with default options and one site. */
internal class Adaptive : Strategy {
    private val executor = AdaptiveExecutor()
    private val site = executor.site("lab")

    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) {
        executor.runAll(site, seeds.size) { results[it] = action.run(seeds[it]) }
    }

    override fun close() = executor.close()
}
