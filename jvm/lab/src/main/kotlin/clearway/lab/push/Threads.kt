// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.push

import clearway.executor.AdaptiveExecutor
import clearway.executor.SiteOptions
import clearway.lab.offload.VirtualThreads
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit

/** The JDK's executors and queues, and Clearway's executor in their place. */
internal val threadMechanisms: List<PushMechanismKind> =
    listOf(
        PushMechanismKind("single-thread-executor") { Executing(Executors.newSingleThreadExecutor()) },
        PushMechanismKind("blocking-queue") { Queued { Thread(it, "receiver").apply { start() } } },
        PushMechanismKind("virtual-thread-queue", VirtualThreads.unavailable) { Queued(VirtualThreads::start) },
        PushMechanismKind("clearway-ordered") { Adaptive() },
    )

private open class Executing(private val executor: ExecutorService) : Sending() {
    override fun send(event: Event) = executor.execute { event.arrive() }

    override fun close() {
        executor.shutdown()
        executor.awaitTermination(10, TimeUnit.SECONDS)
    }
}

/** Clearway's executor as a plain `ExecutorService`, with an ordered site. */
private class Adaptive(private val owner: AdaptiveExecutor = AdaptiveExecutor()) :
    Executing(owner.asExecutorService(owner.site("push", SiteOptions().ordered()))) {
    override fun close() {
        super.close()
        owner.close()
    }
}

/** A LinkedBlockingQueue and a thread that takes from it. */
private class Queued(start: (Runnable) -> Thread) : Sending() {
    private val queue = LinkedBlockingQueue<Event>()
    private val thread = start(::takeAll)

    override fun send(event: Event) = queue.put(event)

    private fun takeAll() {
        try {
            while (true) queue.take().arrive()
        } catch (closed: InterruptedException) {
            // `close` interrupts the thread.
        }
    }

    override fun close() {
        thread.interrupt()
        thread.join()
    }
}
