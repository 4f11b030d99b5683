// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

class ParticipantTest {
    private val me = Participant(Thread.currentThread())

    @Test
    fun `the items of a chunk that have not begun are taken back once`() {
        me.begin(100, 200)
        me.item = 150
        assertEquals(151..199, me.recall())
        assertEquals(0, me.behind)
        assertNull(me.recall())
    }

    @Test
    fun `a thread that runs single items of an earlier chunk owns no items behind them`() {
        me.begin(100, 200)
        me.item = 150
        me.recall()
        me.done(200)
        me.item = 23 // An item that was taken back from any thread.
        assertEquals(0, me.behind)
        assertNull(me.recall())
    }
}
