// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.lab.channel.Caller
import clearway.lab.channel.Crossing
import clearway.lab.channel.Row
import clearway.lab.memory.Filler

/**
 * The ways that need java.lang.foreign. Module lab-foreign implements them as a service; it is compiled only with a JDK
 * that has java.lang.foreign. Called on JDK 22 and newer only.
 */
public interface ForeignPeers {
    /**
     * Opens a way to fill a buffer, by a name of [Foreign.fillers]. If it cannot, throws with the name of the missing
     * part.
     */
    public fun filler(mechanism: String, bytes: Int): Filler

    /** Opens a way for bytes to C and back, without Clearway. Throws as [filler] does. */
    public fun crossing(mechanism: String): Crossing

    /** Opens a channel to a plugin. Throws as [filler] does. */
    public fun caller(mechanism: String, row: Row): Caller
}
