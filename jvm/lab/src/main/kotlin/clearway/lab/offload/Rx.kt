// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import io.reactivex.rxjava3.core.Flowable
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.schedulers.Schedulers

/** Strategies of RxJava 3. They use each scheduler with the operator that RxJava's documentation combines it with. */
internal val rxStrategies: List<StrategyKind> =
    listOf(
        StrategyKind("rxjava-flowable-single") { OneThread() },
        StrategyKind("rxjava-parallel-computation") { Rails() },
        StrategyKind("rxjava-flatmap-io") { FlatMapped(Schedulers.io()) },
    )

/** Restarts RxJava's standard schedulers, because they are global to the JVM. `close` ends them. */
private abstract class Scheduled : Strategy {
    init {
        Schedulers.shutdown()
        Schedulers.start()
    }

    override fun close() = Schedulers.shutdown()
}

/** Runs the whole sequence on the one thread of `Schedulers.single()`. */
private class OneThread : Scheduled() {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) =
        Flowable.range(0, seeds.size)
            .subscribeOn(Schedulers.single())
            .map { at -> action.run(seeds[at]).also { results[at] = it } }
            .ignoreElements()
            .blockingAwait()
}

/** Runs one rail of `parallel()` per processor, each on a thread of `Schedulers.computation()`. */
private class Rails : Scheduled() {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) =
        Flowable.range(0, seeds.size)
            .parallel()
            .runOn(Schedulers.computation())
            .map { at -> action.run(seeds[at]).also { results[at] = it } }
            .sequential()
            .ignoreElements()
            .blockingAwait()
}

/**
 * Runs one source per action, each on a thread of `scheduler`. At most 128 run at a time, which is flatMap's default
 * limit.
 */
private class FlatMapped(private val scheduler: Scheduler) : Scheduled() {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) =
        Flowable.range(0, seeds.size)
            .flatMap { at ->
                Flowable.fromCallable { action.run(seeds[at]).also { results[at] = it } }.subscribeOn(scheduler)
            }
            .ignoreElements()
            .blockingAwait()
}
