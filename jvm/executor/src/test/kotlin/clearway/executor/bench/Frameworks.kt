// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.bench

import io.reactivex.rxjava3.core.Completable
import io.reactivex.rxjava3.core.Flowable
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.schedulers.Schedulers
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/** Runs one coroutine per action, on one of the library's dispatchers. */
internal class Coroutines(name: String, private val on: CoroutineDispatcher) : Strategy(name) {
    override fun run(seeds: List<Int>, action: Action): Unit = runBlocking {
        for (seed in seeds) launch(on) { action.run(seed) }
    }
}

/** Runs `flatMap` with one subscription per action. RxJava's documentation recommends this for parallel work. */
internal class Rx(name: String, private val on: Scheduler) : Strategy(name) {
    override fun run(seeds: List<Int>, action: Action): Unit =
        Flowable.fromIterable(seeds)
            .flatMapCompletable({ Completable.fromAction { action.run(it) }.subscribeOn(on) }, false, Int.MAX_VALUE)
            .blockingAwait()
}

internal fun frameworks(): List<Strategy> =
    listOf(
        Coroutines("coroutines Default", Dispatchers.Default),
        Coroutines("coroutines IO", Dispatchers.IO),
        Rx("RxJava computation", Schedulers.computation()),
        Rx("RxJava io", Schedulers.io()),
    )
