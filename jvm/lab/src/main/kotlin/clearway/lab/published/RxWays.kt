// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import io.reactivex.rxjava3.core.Completable
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.schedulers.Schedulers

/** The published ways of RxJava: one Completable per action, subscribed on a scheduler, and all of them merged. */
internal val rxWays: List<WayKind> =
    listOf(
        published("rxjava-single") { Completables { Schedulers.single() } },
        published("rxjava-computation") { Completables { Schedulers.computation() } },
        published("rxjava-io") { Completables { Schedulers.io() } },
    )

/** Restarts RxJava's standard schedulers, because they are global to the JVM. `close` ends them. */
private class Completables(scheduler: () -> Scheduler) : Way {
    init {
        Schedulers.shutdown()
        Schedulers.start()
    }

    private val scheduler = scheduler()

    override fun run(list: List<Int>, action: (Int) -> Any) {
        val all = list.map { Completable.fromAction { action(it) }.subscribeOn(scheduler) }
        Completable.merge(all).blockingAwait()
    }

    override fun close() = Schedulers.shutdown()
}
