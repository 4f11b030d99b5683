// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.foreign

import clearway.channel.MethodTable
import clearway.channel.Outcome
import clearway.channel.Wire
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory

/** Tests of application code that throws, hangs or calls back into the endpoint, at every point of [POINTS]. */
class ForeignCodeTest {
    private val wires = listOf(Wire.CLEARWAY, Wire.PLAIN)

    @TestFactory
    fun `everything settles and the channel goes on when foreign code throws`(): List<DynamicTest> =
        wires.flatMap { wire ->
            POINTS.flatMap { point ->
                THROWING.map { (what, throwing) ->
                    dynamicTest("$wire: ${point.name} throws $what") {
                        Scene(wire) { throwing() }
                            .use { scene ->
                                val futures = point.reach(scene)
                                scene.awaitReached()
                                scene.settled(futures)
                                scene.assertWorks()
                            }
                    }
                }
            }
        }

    @TestFactory
    fun `everything settles and the channel goes on when foreign code calls the endpoint`(): List<DynamicTest> =
        wires.flatMap { wire ->
            POINTS.map { point ->
                dynamicTest("$wire: ${point.name} calls its endpoint") {
                    lateinit var scene: Scene
                    val done = CountDownLatch(1)
                    val reenter = {
                        scene.onExecute = {}
                        for (end in listOf(scene.a, scene.b)) {
                            end.methods("other").call<Any?>("it")
                            end.events("other").listen<Any?>().close()
                            end.messages("other").post(1)
                            end.methods("another").handle(MethodTable()).close()
                            end.stats()
                        }
                        done.countDown()
                    }
                    Scene(wire, reenter).use {
                        scene = it
                        val futures = point.reach(it)
                        assertTrue(done.await(Scene.LIMIT, TimeUnit.SECONDS))
                        it.settled(futures)
                        it.assertWorks()
                    }
                }
            }
        }

    @TestFactory
    fun `everything settles when foreign code closes the endpoint`(): List<DynamicTest> =
        wires.flatMap { wire ->
            POINTS.map { point ->
                dynamicTest("$wire: ${point.name} closes its endpoint") {
                    lateinit var scene: Scene
                    Scene(wire) { scene.b.terminate() }
                        .use {
                            scene = it
                            val futures = point.reach(it)
                            it.awaitReached()
                            it.settled(futures)
                            listOf(it.a, it.b).forEach { end -> end.closed.get(Scene.LIMIT, TimeUnit.SECONDS) }
                        }
                }
            }
        }

    @TestFactory
    fun `neighbours are served and the end settles everything when foreign code hangs`(): List<DynamicTest> =
        wires.flatMap { wire ->
            HANGING.map { point ->
                dynamicTest("$wire: ${point.name} hangs") {
                    val gate = CountDownLatch(1)
                    try {
                        Scene(wire) { gate.await() }
                            .use { scene ->
                                val futures = point.reach(scene)
                                scene.awaitReached()
                                scene.assertServes()
                                scene.b.terminate()
                                for (each in futures) Outcome.of(each).get(Scene.LIMIT, TimeUnit.SECONDS)
                                scene.a.closed.get(Scene.LIMIT, TimeUnit.SECONDS)
                            }
                    } finally {
                        gate.countDown()
                    }
                }
            }
        }

    private companion object {
        /** The points at which application code may block: those that run on the executor's threads. */
        val HANGING =
            POINTS.filter { point ->
                listOf("handler of", "a method", "stage that", "source of", "an iter", "a handler's codec").any {
                    it in point.name
                } && "onCancel" !in point.name && "executor" !in point.name
            }
    }
}
