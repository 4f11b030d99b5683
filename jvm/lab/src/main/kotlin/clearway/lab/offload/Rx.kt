// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import io.reactivex.rxjava3.core.Flowable
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.schedulers.Schedulers

/** RxJava 3, each scheduler with the operator that its documentation uses it with. */
internal val rxStrategies: List<StrategyKind> =
    listOf(
        StrategyKind("rxjava-single") { OneThread() },
        StrategyKind("rxjava-computation") { Rails() },
        StrategyKind("rxjava-io") { FlatMapped(Schedulers.io()) },
    )

/** The standard schedulers are one for the whole JVM: started anew here, ended by `close`. */
private abstract class Scheduled : Strategy {
    init {
        Schedulers.shutdown()
        Schedulers.start()
    }

    override fun close() = Schedulers.shutdown()
}

/** The whole sequence on the one thread of `Schedulers.single()`. */
private class OneThread : Scheduled() {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) =
        Flowable.range(0, seeds.size)
            .subscribeOn(Schedulers.single())
            .map { at -> action.run(seeds[at]).also { results[at] = it } }
            .ignoreElements()
            .blockingAwait()
}

/** `parallel()`: a rail a processor, each on a thread of `Schedulers.computation()`. */
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
 * A source an action, each subscribed on a thread of `scheduler`; at most 128 at a time, which is flatMap's own limit.
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
