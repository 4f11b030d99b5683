// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import io.reactivex.rxjava3.core.Observable
import io.reactivex.rxjava3.schedulers.Schedulers
import io.reactivex.rxjava3.subjects.PublishSubject

internal val rxMechanisms: List<PushMechanismKind> =
    listOf(
        PushMechanismKind("rxjava-subject") { Subject { it } },
        PushMechanismKind("rxjava-observeon") { Subject { it.observeOn(Schedulers.single()) } },
    )

private class Subject(through: (Observable<Event>) -> Observable<Event>) : Sending() {
    init {
        Schedulers.start() // A previous mechanism may have ended the schedulers.
    }

    private val subject = PublishSubject.create<Event>()
    private val subscription = through(subject).subscribe { it.arrive() }

    override fun send(event: Event) = subject.onNext(event)

    override fun close() {
        subscription.dispose()
        Schedulers.shutdown()
    }
}
